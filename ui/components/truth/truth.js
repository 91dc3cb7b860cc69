// Against the truth: the true digit turns along with the dial, and the error is measured live.
import { apart } from "../shared/geometry.js";
import { mount } from "../shared/mount.js";
import { unpacked } from "../shared/packed.js";
import { poseOf } from "../shared/pose.js";
import { coefficients, rotated } from "../shared/rotation.js";

const error = (value) => value.toFixed(4);

export function mse(a, b) {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += (a[k] - b[k]) ** 2;
  return sum / a.length;
}

// values all round, at any angle: straight lines between them
export function around(values, degrees) {
  const place = (degrees / 360) * values.length;
  const left = Math.floor(place);
  const share = place - left;
  const at = (k) => values[((k % values.length) + values.length) % values.length];
  return (1 - share) * at(left) + share * at(left + 1);
}

// What is known of a digit, whatever the model makes of it.
export class Truth {
  constructor({ size, image, mean, seen }) {
    Object.assign(this, { size, seen, views: new Map() });
    this.image = coefficients(unpacked(image), size);
    this.mean = coefficients(unpacked(mean), size);
  }

  true(angle) {
    return rotated(this.image, this.size, angle);
  }

  meanImage(angle) {
    return rotated(this.mean, this.size, angle);
  }

  // the nearest view that the model sees, turned as a picture
  geometric(angle) {
    const nearest = this.seen.reduce((best, each) => (apart(each, angle) < apart(best, angle) - 1e-9 ? each : best));
    if (!this.views.has(nearest)) {
      const view = Float32Array.from(this.true(nearest));
      this.views.set(nearest, coefficients(view, this.size));
    }
    return rotated(this.views.get(nearest), this.size, angle - nearest);
  }
}

class TruthCard {
  constructor(root) {
    const $ = (name) => root.querySelector(name);
    Object.assign(this, { box: $(".truth"), figures: $(".figures"), why: $(".why"), silent: $(".silent") });
    this.canvases = [...root.querySelectorAll("canvas")];
    this.watch = (picture, beside) => {
      this.pixels = Float64Array.from(picture.pixels);
      this.beside = beside && { name: beside.scene.name, pixels: Float64Array.from(beside.pixels) };
      this.frame ??= requestAnimationFrame(() => this.draw());
    };
    this.cells = new Map();
    // for tests: what the figures say
    root.host.fgpvae = { figures: () => this.shown };
  }

  update(data) {
    const live = poseOf(data.key);
    if (live !== this.live) {
      this.live?.watchers.delete(this.watch);
      live.watchers.add(this.watch);
      this.live = live;
    }
    const known = JSON.stringify([data.image, data.mean, data.seen]);
    if (known !== this.known) this.truth = new Truth(data);
    this.known = known;
    this.data = data;
    const link = Object.assign(document.createElement("a"), data.texts.link && { textContent: data.texts.link, href: data.texts.address });
    this.why.replaceChildren(`${data.texts.why} `, link);
    this.silent.textContent = data.texts.silent;
    for (const canvas of this.canvases) canvas.width = canvas.height = data.size;
    if (live.picture?.pixels) this.watch(live.picture, live.beside);
  }

  draw() {
    this.frame = null;
    const { live, data, truth, pixels } = this;
    const another = live.subject !== data.subject; // digit, whose truth has not arrived yet
    const silent = another || live.style !== null;
    this.box.classList.toggle("silenced", silent);
    this.silent.hidden = another || !silent;
    this.shown = null;
    if (silent) return;
    const { angle } = live;
    const right = truth.true(angle);
    const difference = right.map((value, k) => Math.abs(value - pixels[k]));
    [right, pixels, difference].forEach((each, k) => paint(this.canvases[k], each));
    const here = mse(pixels, right);
    const geometric = mse(truth.geometric(angle), right);
    const spread = data.spread ? `± ${around(data.spread, angle).toFixed(3)}` : "unknown";
    const figures = { "MSE here": error(here) };
    if (this.beside) figures[this.beside.name] = error(mse(this.beside.pixels, right));
    figures["geometric rotation"] = error(geometric);
    figures["mean image"] = error(mse(truth.meanImage(angle), right));
    figures["pixel sd"] = spread;
    this.write(figures);
    this.why.classList.toggle("unneeded", geometric >= here);
  }

  write(figures) {
    this.shown = figures;
    const names = Object.keys(figures);
    if (names.join() !== [...this.cells.keys()].join()) {
      this.cells = new Map(names.map((name) => [name, document.createElement("dd")]));
      const rows = names.map((name) => {
        const row = document.createElement("div");
        row.title = this.data.hints[name] ?? `Mean squared error of a pixel of ${name}`;
        row.append(Object.assign(document.createElement("dt"), { textContent: name }), this.cells.get(name));
        return row;
      });
      this.figures.replaceChildren(...rows);
    }
    for (const name of names) {
      const cell = this.cells.get(name);
      if (cell.textContent !== figures[name]) cell.textContent = figures[name];
    }
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    this.live?.watchers.delete(this.watch);
  }
}

// grey pixels on a canvas of their size, which the browser enlarges
function paint(canvas, pixels) {
  const image = new ImageData(canvas.width, canvas.height);
  pixels.forEach((value, k) => {
    image.data.fill(255 * value, 4 * k, 4 * k + 3); // clamped to 0..255 and rounded by its type
    image.data[4 * k + 3] = 255;
  });
  canvas.getContext("2d", { alpha: false }).putImageData(image, 0, 0);
}

export default mount((root) => new TruthCard(root));
