// A Gaussian process over the angle with points set by clicks, computed in the browser.
import { element, listen, parts, sharp } from "../shared/dom.js";
import { clamp, radians } from "../shared/geometry.js";
import { mount } from "../shared/mount.js";
import { gaussian } from "../shared/numbers.js";
import { Posterior } from "../shared/posterior.js";

const REACH = 3; // the vertical axis runs from -REACH to REACH
const GRID = Array.from({ length: 181 }, (_, i) => 2 * i); // degrees
const DRAWS = 4; // sampled functions
const MOST = 40; // points
const PAD = { left: 34, right: 10, top: 8, bottom: 30 };
const STEPS = { ArrowLeft: [-5, 0], ArrowRight: [5, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
const minus = (number) => String(number).replace("-", "−");
const rounded = (value, digits) => Number(value.toFixed(digits));

class ClickGP {
  constructor(root, { points, sigma, r, noise, cycle, warm }) {
    Object.assign(this, { marks: points, sigma, r, noise, cycle, warm });
    Object.assign(this, parts(root, "stage", "curves", "points", "hint", "evidence", "add", "samples", "clear"));
    this.inputs = [...root.querySelectorAll("input")];
    this.shuffle();
    this.stage.addEventListener("click", (event) => {
      if (!event.target.closest("button")) this.put(this.place(event));
    });
    for (const input of this.inputs) {
      input.value = this[input.name];
      const moved = () => {
        this[input.name] = Number(input.value);
        this.draw();
      };
      listen(input, { input: moved, change: () => this.commit() });
    }
    this.add.addEventListener("click", () => {
      this.put(this.unsure());
      this.points.lastChild.focus(); // the arrow keys move it from here
    });
    this.samples.addEventListener("click", () => {
      this.shuffle();
      this.draw();
    });
    this.clear.addEventListener("click", () => {
      this.marks = [];
      this.commit();
    });
    new ResizeObserver(() => this.draw()).observe(this.stage);
    this.draw();
  }

  update(_, setStateValue) {
    this.send = setStateValue;
    this.draw(); // the theme may have changed
  }

  // standard normal numbers of each sampled function
  shuffle() {
    this.normals = Array.from({ length: DRAWS }, () => [GRID.map(gaussian)]);
  }

  put(mark) {
    if (this.marks.length < MOST) this.marks.push(mark);
    this.commit();
  }

  commit() {
    this.draw();
    const { marks: points, sigma, r, noise } = this;
    this.send("state", { points, sigma, r, noise });
  }

  // add a point where the variance is largest, at the mean
  unsure() {
    if (!this.marks.length) return { w: 180, z: 0 };
    const doubt = (w) => this.process.variance(radians(w))[0];
    const angles = Array.from({ length: 72 }, (_, i) => 5 * i);
    const w = angles.reduce((most, each) => (doubt(each) > doubt(most) ? each : most));
    return { w, z: clamp(rounded(this.process.at(radians(w))[0], 3), -REACH, REACH) };
  }

  // where a pointer is: degrees and value
  place({ clientX, clientY }) {
    const box = this.stage.getBoundingClientRect();
    const across = (clientX - box.left - PAD.left) / (box.width - PAD.left - PAD.right);
    const down = (clientY - box.top - PAD.top) / (box.height - PAD.top - PAD.bottom);
    const z = clamp(REACH * (1 - 2 * down), -REACH, REACH);
    return { w: rounded(clamp(360 * across, 0, 360), 1), z: rounded(z, 3) };
  }

  toPixels(w, z) {
    const { width, height } = this.stage.getBoundingClientRect();
    return [
      PAD.left + (w / 360) * (width - PAD.left - PAD.right),
      PAD.top + ((1 - z / REACH) / 2) * (height - PAD.top - PAD.bottom),
    ];
  }

  colour(w) {
    return this.cycle[Math.round((w / 360) * this.cycle.length) % this.cycle.length];
  }

  handle() {
    const button = element("button");
    const index = () => [...this.points.children].indexOf(button);
    const remove = () => {
      this.marks.splice(index(), 1);
      this.commit();
    };
    listen(button, {
      pointerdown: (event) => {
        button.setPointerCapture(event.pointerId);
        this.moved = false;
      },
      pointermove: (event) => {
        if (!button.hasPointerCapture(event.pointerId)) return;
        this.moved = true;
        this.marks[index()] = this.place(event);
        this.draw();
      },
      pointerup: () => this.moved && this.commit(),
      dblclick: remove,
      keydown: (event) => {
        const mark = this.marks[index()];
        if (event.key === "Delete" || event.key === "Backspace") {
          const next = Math.min(index(), this.marks.length - 2);
          remove();
          (this.points.children[next] ?? this.add).focus();
        } else if (event.key in STEPS) {
          const [dw, dz] = STEPS[event.key];
          mark.w = clamp(mark.w + dw, 0, 360);
          mark.z = clamp(rounded(mark.z + dz, 3), -REACH, REACH);
          this.commit();
        } else return;
        event.preventDefault();
      },
    });
    return button;
  }

  draw() {
    const kernel = { kind: "periodic", amplitude: this.sigma, lengthScale: this.r };
    const views = this.marks.map(({ w, z }) => ({ w: radians(w), mean: [z], variance: [this.noise ** 2] }));
    this.process = new Posterior({ kernel, local: 1, latents: 1 }, views);
    while (this.points.children.length > this.marks.length) this.points.lastChild.remove();
    while (this.points.children.length < this.marks.length) this.points.append(this.handle());
    this.marks.forEach(({ w, z }, index) => {
      const button = this.points.children[index];
      const [left, top] = this.toPixels(w, z).map((pixels) => `${pixels}px`);
      Object.assign(button.style, { left, top, background: this.colour(w) });
      button.ariaLabel = `point at ${w} degrees, value ${z}; Delete removes it`;
    });
    this.hint.hidden = this.marks.length > 0;
    this.evidence.textContent = this.marks.length ? `log Z = ${minus(this.process.evidence().toFixed(2))}` : "";
    for (const input of this.inputs) input.previousElementSibling.textContent = this[input.name].toFixed(2);
    this.paint();
  }

  paint() {
    const { width, height } = this.stage.getBoundingClientRect();
    if (!width) return;
    const pen = sharp(this.curves, width, height);
    const { color: ink, fontFamily } = getComputedStyle(this.stage);
    const trace = (values) => values.map((z, i) => this.toPixels(GRID[i], z));
    const [left, top] = this.toPixels(0, REACH);
    const [right, bottom] = this.toPixels(360, -REACH);
    this.axes(pen, ink, fontFamily, left, right, bottom);
    pen.rect(left, top, right - left, bottom - top);
    pen.clip();

    const mean = GRID.map((w) => this.process.at(radians(w))[0]);
    const sd = GRID.map((w) => Math.sqrt(this.process.variance(radians(w))[0]));
    const edge = (side) => trace(mean.map((each, i) => each + 2 * side * sd[i]));
    pen.beginPath();
    for (const point of [...edge(1), ...edge(-1).reverse()]) pen.lineTo(...point);
    Object.assign(pen, { fillStyle: this.warm, globalAlpha: 0.16 });
    pen.fill();
    const line = (values, strokeStyle, lineWidth, globalAlpha) => {
      pen.beginPath();
      for (const point of trace(values)) pen.lineTo(...point);
      Object.assign(pen, { strokeStyle, lineWidth, globalAlpha });
      pen.stroke();
    };
    const draw = this.process.sampler(GRID.map(radians));
    for (const normals of this.normals) line(draw(normals).flat(), ink, 1, 0.35);
    line(mean, this.warm, 2.5, 1);
  }

  axes(pen, ink, font, left, right, bottom) {
    Object.assign(pen, { font: `12px ${font}`, fillStyle: ink, textAlign: "right", textBaseline: "middle" });
    for (const z of [-2, 0, 2]) {
      const [, y] = this.toPixels(0, z);
      pen.globalAlpha = 0.12;
      pen.fillRect(left, y - 0.5, right - left, 1);
      pen.globalAlpha = 0.65;
      pen.fillText(minus(z), left - 8, y);
    }
    Object.assign(pen, { textAlign: "center", textBaseline: "top" });
    for (const w of [0, 90, 180, 270, 360]) {
      pen.fillText(`${w}°`, clamp(this.toPixels(w, 0)[0], left + 6, right - 10), bottom + 12);
    }
    pen.globalAlpha = 1;
    const step = (right - left) / 120;
    for (let i = 0; i < 120; i++) {
      pen.fillStyle = this.colour(3 * i);
      pen.fillRect(left + i * step, bottom + 3, step + 0.5, 4);
    }
  }
}

export default mount((root, data) => new ClickGP(root, data));
