// Pictures from all round that turn together with the dial. They come as one sheet: a row for each
// picture, a column for each angle.
import { mount } from "../shared/mount.js";
import { poseOf } from "../shared/pose.js";

// the column of the angle that is nearest
export function column(degrees, frames) {
  return Math.round((degrees / 360) * frames) % frames;
}

class Turntable {
  constructor(root) {
    this.box = root.querySelector(".turntable");
    this.pictures = root.querySelector(".pictures");
    this.figures = root.querySelector(".figures");
    this.silent = root.querySelector(".silent");
    this.watch = () => (this.frame ??= requestAnimationFrame(() => this.draw()));
    // for tests: which column is drawn, and what the pixels of a picture are
    root.host.fgpvae = {
      column: () => this.drawn,
      pixels: (row) => Array.from(this.canvases[row].getContext("2d").getImageData(0, 0, this.data.size, this.data.size).data),
      sheet: () => this.data.sheet,
    };
  }

  update(data) {
    const live = poseOf(data.key);
    if (live !== this.live) {
      this.live?.listeners.delete(this.watch);
      live.listeners.add(this.watch);
      this.live = live;
    }
    this.silent.textContent = data.silent;
    const names = JSON.stringify([data.names, Object.keys(data.figures), data.size]);
    const sheet = this.data?.sheet;
    this.data = data;
    if (names !== this.names) this.lay();
    this.names = names;
    if (data.sheet === sheet) return this.watch();
    const image = new Image();
    image.onload = () => {
      if (data.sheet !== this.data.sheet) return; // another figure has come meanwhile
      this.image = image;
      this.drawn = null;
      this.watch();
    };
    image.src = data.sheet;
  }

  lay() {
    const { names, figures, hints, size, least } = this.data;
    this.pictures.style.setProperty("--least", `${least}px`);
    this.canvases = names.map((name) => {
      const canvas = Object.assign(document.createElement("canvas"), { width: size, height: size, role: "img" });
      canvas.ariaLabel = name;
      return canvas;
    });
    this.pictures.replaceChildren(
      ...this.canvases.map((canvas, k) => {
        const figure = Object.assign(document.createElement("figure"), { title: hints[names[k]] ?? "" });
        figure.append(canvas, Object.assign(document.createElement("figcaption"), { textContent: names[k] }));
        return figure;
      }),
    );
    this.cells = Object.keys(figures).map(() => document.createElement("dd"));
    this.figures.replaceChildren(
      ...Object.keys(figures).map((name, k) => {
        const row = Object.assign(document.createElement("div"), { title: hints[name] ?? "" });
        row.append(Object.assign(document.createElement("dt"), { textContent: name }), this.cells[k]);
        return row;
      }),
    );
    this.drawn = null;
  }

  draw() {
    this.frame = null;
    if (!this.image) return;
    const { size, frames, figures, silent } = this.data;
    const silenced = Boolean(silent) && this.live.style !== null;
    this.silent.hidden = !silenced;
    this.box.classList.toggle("silenced", silenced);
    const at = column(this.live.angle, frames);
    if (at === this.drawn) return;
    this.drawn = at;
    this.canvases.forEach((canvas, row) => {
      const pen = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
      pen.drawImage(this.image, at * size, row * size, size, size, 0, 0, size, size);
    });
    Object.values(figures).forEach((values, k) => (this.cells[k].textContent = values[at].toFixed(4)));
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    this.live?.listeners.delete(this.watch);
  }
}

export default mount((root) => new Turntable(root));
