// Pictures from all angles that turn with the dial. They arrive as one sheet with a row per picture and a column
// per angle.
import { element, parts } from "../shared/dom.js";
import { mount } from "../shared/mount.js";
import { follow, leave } from "../shared/pose.js";

// the column nearest to an angle, or to a position on a line from 0 to 100
function column(angle, frames, line) {
  return line ? Math.round((angle / 100) * (frames - 1)) : Math.round((angle / 360) * frames) % frames;
}

class Turntable {
  constructor(root, { key }) {
    Object.assign(this, parts(root, "turntable", "pictures", "figures", "silent"));
    this.changed = () => (this.frame ??= requestAnimationFrame(() => this.draw()));
    follow(this, key);
  }

  async update(data) {
    this.data = data;
    this.silent.textContent = data.silent;
    this.lay();
    const image = element("img", { src: data.sheet });
    await image.decode();
    if (data !== this.data) return; // newer data has arrived
    this.image = image;
    this.changed();
  }

  lay() {
    const { names, figures, hints, height, width, least } = this.data;
    const laid = JSON.stringify([names, Object.keys(figures), height, width]);
    if (laid === this.laid) return;
    this.laid = laid;
    this.pictures.style.setProperty("--least", `${least}px`);
    this.canvases = names.map((ariaLabel) => element("canvas", { width, height, role: "img", ariaLabel }));
    const captioned = (canvas, k) =>
      element("figure", { title: hints[names[k]] ?? "" }, canvas, element("figcaption", {}, names[k]));
    this.pictures.replaceChildren(...this.canvases.map(captioned));
    this.cells = Object.keys(figures).map(() => element("dd"));
    const named = (name, k) => element("div", { title: hints[name] ?? "" }, element("dt", {}, name), this.cells[k]);
    this.figures.replaceChildren(...Object.keys(figures).map(named));
  }

  draw() {
    this.frame = null;
    if (!this.image) return;
    const { height, width, frames, figures, silent, line } = this.data;
    const silenced = Boolean(silent) && this.live.style !== null;
    this.silent.hidden = !silenced;
    this.turntable.classList.toggle("silenced", silenced);
    const at = column(this.live.angle, frames, line);
    this.canvases.forEach((canvas, row) => {
      const pen = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
      pen.drawImage(this.image, at * width, row * height, width, height, 0, 0, width, height);
    });
    Object.values(figures).forEach((values, k) => (this.cells[k].textContent = values[at].toFixed(4)));
  }

  destroy() {
    leave(this);
  }
}

export default mount((root, data) => new Turntable(root, data));
