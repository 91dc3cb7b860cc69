// The encoder of a view: features of the image, turned back by the angle for the global channels.
import { chain, run } from "../dial/decoder.js";

const FLOOR = 1e-6; // lower bound of a variance, as in networks/standard.py

export class Encoder {
  constructor({ layers: [{ first, local, style, harmonics }] }, weights) {
    this.first = chain(first, weights);
    this.local = chain(local, weights);
    this.style = chain(style, weights);
    this.harmonics = harmonics;
  }

  // an image [H * W] at an angle -> means and variances [L], local channels first
  run(image, angle) {
    const features = run(this.first, image).slice();
    const half = features.length / 2;
    const turned = new Float64Array(2 * half);
    for (let k = 0; k < half; k++) {
      const [cos, sin] = [Math.cos, Math.sin].map((wave) => wave(angle * (k % this.harmonics)));
      turned[k] = features[k] * cos - features[half + k] * sin;
      turned[half + k] = features[k] * sin + features[half + k] * cos;
    }
    const parts = [run(this.local, features), run(this.style, turned)];
    const join = (from, to) => parts.flatMap((each) => Array.from(each.subarray(from * each.length, to * each.length)));
    const variance = join(0.5, 1).map((log) => Math.exp(Math.min(20, Math.max(-20, log))) + FLOOR);
    return { mean: join(0, 0.5), variance };
  }
}
