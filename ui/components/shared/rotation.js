// Pictures turned by cubic splines, as the package turns them: fgpvae.data.rotate.
import { radians } from "./geometry.js";

const POLE = Math.sqrt(3) - 2; // of the cubic B-spline's filter

// values[start + k * step], k = 0 .. size - 1, become spline coefficients; mirrored at the ends
function filter(values, start, step, size) {
  const at = (k) => start + k * step;
  let sum = 0;
  for (let k = 0; k < 2 * size - 2; k++) sum += POLE ** k * values[at(k < size ? k : 2 * size - 2 - k)];
  values[at(0)] = sum / (1 - POLE ** (2 * size - 2));
  for (let k = 1; k < size; k++) values[at(k)] += POLE * values[at(k - 1)];
  const last = at(size - 1);
  values[last] = (POLE / (POLE ** 2 - 1)) * (POLE * values[at(size - 2)] + values[last]);
  for (let k = size - 2; k >= 0; k--) values[at(k)] = POLE * (values[at(k + 1)] - values[at(k)]);
  for (let k = 0; k < size; k++) values[at(k)] *= 6;
}

// the coefficients of a picture [size * size]
export function coefficients(picture, size) {
  const values = Float64Array.from(picture);
  for (let k = 0; k < size; k++) filter(values, k, size, size);
  for (let k = 0; k < size; k++) filter(values, k * size, 1, size);
  return values;
}

// The picture of coefficients at an angle in degrees, counter-clockwise.
export function rotated(values, size, degrees) {
  // a quarter turn is one to the last digit
  const exact = (value) => Math.round(value * 1e12) / 1e12;
  const cos = exact(Math.cos(radians(degrees)));
  const sin = exact(Math.sin(radians(degrees)));
  const centre = (size - 1) / 2;
  const out = new Float64Array(size * size);
  const rows = { index: new Int32Array(4), weight: new Float64Array(4) };
  const columns = { index: new Int32Array(4), weight: new Float64Array(4) };
  for (let y = 0, to = 0; y < size; y++) {
    for (let x = 0; x < size; x++, to++) {
      const row = cos * (y - centre) + sin * (x - centre) + centre;
      const column = cos * (x - centre) - sin * (y - centre) + centre;
      if (row < 0 || column < 0 || row > size - 1 || column > size - 1) continue;
      taps(row, size, rows);
      taps(column, size, columns);
      for (let r = 0; r < 4; r++) {
        const from = size * rows.index[r];
        let sum = 0;
        for (let c = 0; c < 4; c++) sum += columns.weight[c] * values[from + columns.index[c]];
        out[to] += rows.weight[r] * sum;
      }
    }
  }
  return out;
}

// the four taps around a position
function taps(at, size, { index, weight }) {
  const first = Math.floor(at);
  const t = at - first;
  weight[0] = (1 - t) ** 3 / 6;
  weight[1] = (3 * t ** 3 - 6 * t ** 2 + 4) / 6;
  weight[2] = (-3 * t ** 3 + 3 * t ** 2 + 3 * t + 1) / 6;
  weight[3] = t ** 3 / 6;
  for (let k = 0; k < 4; k++) {
    let place = Math.abs(first + k - 1);
    if (place > size - 1) place = 2 * (size - 1) - place;
    index[k] = Math.min(Math.max(place, 0), size - 1);
  }
}
