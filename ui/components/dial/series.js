// What a code is at an angle or a place: the server's Fourier series, or its table on a line.
import { clamp } from "../shared/geometry.js";
import { unpacked } from "../shared/numbers.js";

class Curves {
  constructor({ shape: [rows], values }) {
    this.rows = rows;
    this.values = Float64Array.from(unpacked(values)); // row by row
    this.columns = this.values.length / rows;
  }
}

// Fourier series [rows, 2 H + 1] on 1, cos kw, sin kw
export class Series extends Curves {
  at(w) {
    const { rows, columns, values } = this;
    const harmonics = (columns - 1) / 2;
    const basis = Float64Array.from({ length: columns }, (_, k) =>
      k > harmonics ? Math.sin((k - harmonics) * w) : Math.cos(k * w),
    );
    return Float64Array.from({ length: rows }, (_, row) =>
      basis.reduce((sum, wave, k) => sum + values[row * columns + k] * wave, 0),
    );
  }
}

// Curves [rows, points] on an even grid from -1 to 1, with straight lines between its points
export class Table extends Curves {
  at(w) {
    const { rows, columns, values } = this;
    const place = ((clamp(w, -1, 1) + 1) / 2) * (columns - 1);
    const left = Math.min(Math.floor(place), columns - 2);
    const share = place - left;
    return Float64Array.from({ length: rows }, (_, row) => {
      const at = row * columns + left;
      return (1 - share) * values[at] + share * values[at + 1];
    });
  }
}
