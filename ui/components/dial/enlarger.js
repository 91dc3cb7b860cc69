// Enlarges a picture by a whole factor with Catmull-Rom splines, smoothly and without overshoot.
export class Enlarger {
  constructor(channels, height, width, factor) {
    Object.assign(this, { channels, height, width, factor });
    this.across = new Float64Array(height * width * factor);
    this.image = new ImageData(width * factor, height * factor);
    this.image.data.fill(255);
    this.taps = Array.from({ length: factor }, (_, phase) => {
      const t = (phase + 0.5) / factor - 0.5;
      const start = Math.floor(t);
      const f = t - start;
      return {
        start: start - 1,
        weights: [
          ((2 - f) * f - 1) * f * 0.5,
          ((3 * f - 5) * f * f + 2) * 0.5,
          ((4 - 3 * f) * f + 1) * f * 0.5,
          (f - 1) * f * f * 0.5,
        ],
      };
    });
  }

  run(picture) {
    const { channels, height, width, factor, across, image, taps } = this;
    const wide = width * factor;
    const clamp = (index, size) => (index < 0 ? 0 : index >= size ? size - 1 : index);
    for (let c = 0; c < channels; c++) {
      for (let phase = 0; phase < factor; phase++) {
        const { start, weights } = taps[phase];
        const [k0, k1, k2, k3] = weights;
        for (let x = 0; x < width; x++) {
          const a = clamp(x + start, width);
          const b = clamp(x + start + 1, width);
          const d = clamp(x + start + 2, width);
          const e = clamp(x + start + 3, width);
          for (let y = 0, row = c * height * width; y < height; y++, row += width) {
            across[y * wide + x * factor + phase] =
              k0 * picture[row + a] + k1 * picture[row + b] + k2 * picture[row + d] + k3 * picture[row + e];
          }
        }
      }
      const pixels = image.data;
      for (let phase = 0; phase < factor; phase++) {
        const { start, weights } = taps[phase];
        const [k0, k1, k2, k3] = weights;
        for (let y = 0; y < height; y++) {
          const a = clamp(y + start, height) * wide;
          const b = clamp(y + start + 1, height) * wide;
          const d = clamp(y + start + 2, height) * wide;
          const e = clamp(y + start + 3, height) * wide;
          let to = (y * factor + phase) * wide * 4 + c;
          for (let x = 0; x < wide; x++, to += 4) {
            const value =
              255 * (k0 * across[a + x] + k1 * across[b + x] + k2 * across[d + x] + k3 * across[e + x]);
            pixels[to] = value; // clamped to 0..255 and rounded by its type
            if (channels === 1) pixels[to + 1] = pixels[to + 2] = pixels[to];
          }
        }
      }
    }
    return image;
  }
}
