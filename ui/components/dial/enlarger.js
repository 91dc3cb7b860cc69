// Enlarges a picture by a whole factor with Catmull-Rom splines, smoothly and without overshoot.
import { clamp } from "../shared/geometry.js";

// four [index, weight] for each pixel of an enlarged side
function taps(size, factor) {
  return Array.from({ length: size * factor }, (_, at) => {
    const t = (at + 0.5) / factor - 0.5;
    const start = Math.floor(t);
    const f = t - start;
    const weights = [((2 - f) * f - 1) * f, (3 * f - 5) * f * f + 2, ((4 - 3 * f) * f + 1) * f, (f - 1) * f * f];
    return weights.map((weight, k) => [clamp(start - 1 + k, 0, size - 1), weight / 2]);
  });
}

export class Enlarger {
  constructor(shape, factor) {
    const [, height, width] = shape;
    this.shape = shape;
    this.columns = taps(width, factor);
    this.rows = taps(height, factor);
    this.across = new Float64Array(height * width * factor);
    this.image = new ImageData(width * factor, height * factor);
    this.image.data.fill(255);
  }

  run(picture) {
    const { columns, rows, across, image } = this;
    const [channels, height, width] = this.shape;
    const wide = image.width;
    const pixels = image.data;
    for (let c = 0; c < channels; c++) {
      columns.forEach(([[a, k0], [b, k1], [d, k2], [e, k3]], x) => {
        for (let y = 0; y < height; y++) {
          const row = (c * height + y) * width;
          across[y * wide + x] =
            k0 * picture[row + a] + k1 * picture[row + b] + k2 * picture[row + d] + k3 * picture[row + e];
        }
      });
      rows.forEach(([[a, k0], [b, k1], [d, k2], [e, k3]], y) => {
        for (let x = 0; x < wide; x++) {
          const to = 4 * (y * wide + x) + c;
          const value =
            k0 * across[a * wide + x] + k1 * across[b * wide + x] + k2 * across[d * wide + x] + k3 * across[e * wide + x];
          pixels[to] = 255 * value; // clamped to 0..255 and rounded by its type
          if (channels === 1) pixels[to + 1] = pixels[to + 2] = pixels[to];
        }
      });
    }
    return image;
  }
}
