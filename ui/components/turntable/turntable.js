// Pictures from all angles that turn with the dial. They arrive as one sheet with a row per picture and a column
// per angle.
import { element, mount, parts } from "../shared/dom.js";
import { follow, leave } from "../shared/pose.js";

class Turntable {
  constructor(root, { key }) {
    Object.assign(this, parts(root, "turntable", "pictures", "figures", "silent"));
    follow(this, key);
  }

  async update(data) {
    this.coming = data;
    const image = element("img", { src: data.sheet });
    await image.decode();
    if (data !== this.coming) return; // newer data has arrived
    Object.assign(this, { data, image });
    const { names, figures, hints, height, width, least, silent } = data;
    this.silent.textContent = silent;
    this.pictures.style.setProperty("--least", `${least}px`);
    const canvas = { width, height, role: "img", className: "shown" };
    this.canvases = names.map((ariaLabel) => element("canvas", { ...canvas, ariaLabel }));
    const captioned = (canvas, k) =>
      element("figure", { title: hints[names[k]] ?? "" }, canvas, element("figcaption", {}, names[k]));
    this.pictures.replaceChildren(...this.canvases.map(captioned));
    this.cells = Object.keys(figures).map(() => element("dd"));
    const named = (name, k) => element("div", { title: hints[name] ?? "" }, element("dt", {}, name), this.cells[k]);
    this.figures.replaceChildren(...Object.keys(figures).map(named));
    this.draw();
  }

  draw() {
    if (!this.image) return;
    const { height, width, frames, figures, silent, line } = this.data;
    const silenced = Boolean(silent) && this.live.style !== null;
    this.silent.hidden = !silenced;
    this.turntable.classList.toggle("silenced", silenced);
    const { angle } = this.live; // on a line from 0 to 100
    const at = line ? Math.round((angle / 100) * (frames - 1)) : Math.round((angle / 360) * frames) % frames;
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

export default mount(Turntable);
