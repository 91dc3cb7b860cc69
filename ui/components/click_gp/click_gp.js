// A Gaussian process over the angle that one can click points into, computed in the browser.
import { clamp, radians } from "../shared/geometry.js";
import { mount } from "../shared/mount.js";

const REACH = 3; // the vertical axis runs from -REACH to REACH
const GRID = 181;
const DRAWS = 4; // sampled functions
const MOST = 40; // points
const PAD = { left: 34, right: 10, top: 8, bottom: 30 };
const minus = (number) => String(number).replace("-", "−");

function normal() {
  // Box and Muller
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

// k(δ) = σ² exp(-2 sin²(δ / 2) / r²)
function kernel(delta, sigma, r) {
  return sigma ** 2 * Math.exp(-2 * (Math.sin(delta / 2) / r) ** 2);
}

// Fourier coefficients of the kernel with σ = 1, as far as they matter
function harmonics(r) {
  const n = 256;
  const values = Array.from({ length: n }, (_, i) => kernel((2 * Math.PI * i) / n, 1, r));
  const found = [];
  for (let k = 0; k < n / 2; k++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += values[i] * Math.cos((2 * Math.PI * k * i) / n);
    const coefficient = ((k ? 2 : 1) * sum) / n;
    if (coefficient < 1e-7) break;
    found.push(coefficient);
  }
  return found;
}

function cholesky(a) {
  const n = a.length;
  const factor = a.map((row) => row.slice());
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = factor[i][j];
      for (let k = 0; k < j; k++) sum -= factor[i][k] * factor[j][k];
      factor[i][j] = i === j ? Math.sqrt(sum) : sum / factor[j][j];
    }
  }
  return factor;
}

function forward(factor, b) {
  const x = b.slice();
  for (let i = 0; i < x.length; i++) {
    for (let k = 0; k < i; k++) x[i] -= factor[i][k] * x[k];
    x[i] /= factor[i][i];
  }
  return x;
}

function backward(factor, b) {
  const x = b.slice();
  for (let i = x.length - 1; i >= 0; i--) {
    for (let k = i + 1; k < x.length; k++) x[i] -= factor[k][i] * x[k];
    x[i] /= factor[i][i];
  }
  return x;
}

// The posterior given points {w, z} (degrees and value), with what is needed to evaluate it.
class Process {
  constructor({ points, sigma, r, noise }) {
    Object.assign(this, { points, sigma, r, noise });
    const gram = points.map((a, i) =>
      points.map((b, j) => this.k(a.w, b.w) + (i === j ? noise ** 2 : 0)),
    );
    this.factor = cholesky(gram);
    this.white = forward(this.factor, points.map((p) => p.z));
    this.alpha = backward(this.factor, this.white);
  }

  k(a, b) {
    return kernel(radians(a - b), this.sigma, this.r);
  }

  at(w) {
    const cross = this.points.map((p) => this.k(p.w, w));
    const mean = cross.reduce((sum, value, i) => sum + value * this.alpha[i], 0);
    // σ² - |L⁻¹ k|²
    const known = forward(this.factor, cross).reduce((sum, value) => sum + value ** 2, 0);
    return { mean, sd: Math.sqrt(Math.max(this.sigma ** 2 - known, 0)) };
  }

  // log Z = -½ (zᵀ(K + s²I)⁻¹z + log|K + s²I| + n log 2π)
  evidence() {
    const quadratic = this.white.reduce((sum, value) => sum + value ** 2, 0);
    const log = this.factor.reduce((sum, row, i) => sum + 2 * Math.log(row[i]), 0);
    return -0.5 * (quadratic + log + this.points.length * Math.log(2 * Math.PI));
  }

  // A draw from the prior, corrected by what the points say: f + K(·, w)(K + s²I)⁻¹(z - f(w) - ε)
  sample(draw) {
    const prior = (w) =>
      this.sigma * draw.coefficients.reduce((sum, c, k) => {
        const phase = k * radians(w);
        const wave = draw.cos[k] * Math.cos(phase) + draw.sin[k] * Math.sin(phase);
        return sum + Math.sqrt(c) * wave;
      }, 0);
    const off = this.points.map((p, i) => p.z - prior(p.w) - this.noise * draw.error[i]);
    const weights = backward(this.factor, forward(this.factor, off));
    return (w) => this.points.reduce((sum, p, i) => sum + this.k(p.w, w) * weights[i], prior(w));
  }
}

class ClickGP {
  constructor(root, { points, sigma, r, noise, cycle, warm }) {
    Object.assign(this, { root, points, sigma, r, noise, cycle, warm });
    const $ = (name) => root.querySelector(name);
    this.stage = $(".stage");
    this.canvas = $("canvas");
    this.holder = $(".points");
    this.hint = $(".hint");
    this.evidence = $(".evidence");
    this.add = $(".add");
    this.inputs = [...root.querySelectorAll("input")];
    this.stop = new AbortController();
    this.shuffle();
    this.listen();
    this.sizes = new ResizeObserver(() => this.draw());
    this.sizes.observe(this.stage);
    // for tests
    root.host.clickgp = {
      at: (w) => this.process.at(w),
      evidence: () => this.process.evidence(),
      points: () => this.points,
      samples: (w) => this.draws.map((draw) => this.process.sample(draw)(w)),
    };
    this.draw();
  }

  listen() {
    const on = (target, event, act) =>
      target.addEventListener(event, act, { signal: this.stop.signal });
    on(this.stage, "click", (event) => {
      if (event.target.closest("button") || this.points.length >= MOST) return;
      this.points.push(this.place(event));
      this.commit();
    });
    for (const input of this.inputs) {
      input.value = this[input.name];
      on(input, "input", () => {
        this[input.name] = Number(input.value);
        if (input.name === "r") this.draws.forEach((draw) => (draw.coefficients = harmonics(this.r)));
        this.draw();
      });
      on(input, "change", () => this.commit());
    }
    on(this.add, "click", () => {
      if (this.points.length >= MOST) return;
      this.points.push(this.unsure());
      this.commit();
      this.holder.lastChild.focus(); // the arrow keys move it from here
    });
    on(this.root.querySelector(".samples"), "click", () => {
      this.shuffle();
      this.draw();
    });
    on(this.root.querySelector(".clear"), "click", () => {
      this.points = [];
      this.commit();
    });
  }

  shuffle() {
    const many = (count) => Array.from({ length: count }, normal);
    this.draws = Array.from({ length: DRAWS }, () => ({
      coefficients: harmonics(this.r), cos: many(128), sin: many(128), error: many(MOST),
    }));
  }

  commit() {
    this.draw();
    const { points, sigma, r, noise } = this;
    this.send({ points, sigma, r, noise });
  }

  // a point where the process knows least, at its mean
  unsure() {
    if (!this.points.length) return { w: 180, z: 0 };
    const angles = Array.from({ length: 72 }, (_, i) => 5 * i);
    const found = angles.map((w) => ({ w, ...this.process.at(w) }));
    const { w, mean } = found.reduce((most, each) => (each.sd > most.sd ? each : most));
    return { w, z: clamp(Number(mean.toFixed(3)), -REACH, REACH) };
  }

  place(event) {
    const box = this.stage.getBoundingClientRect();
    const { w, z } = this.fromPixels(event.clientX - box.left, event.clientY - box.top);
    return { w: Number(w.toFixed(1)), z: Number(z.toFixed(3)) };
  }

  fromPixels(x, y) {
    const { width, height } = this.stage.getBoundingClientRect();
    const across = (x - PAD.left) / (width - PAD.left - PAD.right);
    const down = (y - PAD.top) / (height - PAD.top - PAD.bottom);
    return { w: clamp(360 * across, 0, 360), z: clamp(REACH * (1 - 2 * down), -REACH, REACH) };
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

  drawPoints() {
    while (this.holder.children.length > this.points.length) this.holder.lastChild.remove();
    while (this.holder.children.length < this.points.length) this.holder.append(this.handle());
    this.points.forEach((point, index) => {
      const button = this.holder.children[index];
      const [x, y] = this.toPixels(point.w, point.z);
      button.style.left = `${x}px`;
      button.style.top = `${y}px`;
      button.style.background = this.colour(point.w);
      button.ariaLabel = `point at ${point.w} degrees, value ${point.z}; Delete removes it`;
    });
  }

  handle() {
    const button = document.createElement("button");
    const index = () => [...this.holder.children].indexOf(button);
    const remove = () => {
      this.points.splice(index(), 1);
      this.commit();
    };
    button.addEventListener("pointerdown", (event) => {
      button.setPointerCapture(event.pointerId);
      this.moved = false;
    });
    button.addEventListener("pointermove", (event) => {
      if (!button.hasPointerCapture(event.pointerId)) return;
      this.moved = true;
      this.points[index()] = this.place(event);
      this.draw();
    });
    button.addEventListener("pointerup", () => this.moved && this.commit());
    button.addEventListener("dblclick", remove);
    button.addEventListener("keydown", (event) => {
      const point = this.points[index()];
      const step = { ArrowLeft: [-5, 0], ArrowRight: [5, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
      if (event.key === "Delete" || event.key === "Backspace") {
        const next = Math.min(index(), this.points.length - 2);
        remove();
        (this.holder.children[next] ?? this.add).focus();
      } else if (step[event.key]) {
        const [dw, dz] = step[event.key];
        point.w = clamp(point.w + dw, 0, 360);
        point.z = clamp(Number((point.z + dz).toFixed(3)), -REACH, REACH);
        this.commit();
      } else return;
      event.preventDefault();
    });
    return button;
  }

  draw() {
    this.process = new Process(this);
    this.drawPoints();
    this.hint.hidden = this.points.length > 0;
    this.evidence.textContent = this.points.length
      ? `log Z = ${minus(this.process.evidence().toFixed(2))}`
      : "";
    for (const input of this.inputs) {
      input.previousElementSibling.textContent = this[input.name].toFixed(2);
    }
    this.paint();
  }

  paint() {
    const { width, height } = this.stage.getBoundingClientRect();
    if (!width) return;
    const scale = devicePixelRatio || 1;
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    const c = this.canvas.getContext("2d");
    c.scale(scale, scale);
    const style = getComputedStyle(this.stage);
    const ink = style.color;
    this.axes(c, ink, style.fontFamily);

    const grid = Array.from({ length: GRID }, (_, i) => (360 * i) / (GRID - 1));
    const found = grid.map((w) => this.process.at(w));
    const trace = (values) => values.map((z, i) => this.toPixels(grid[i], z));
    const [left, top] = this.toPixels(0, REACH);
    const [right, bottom] = this.toPixels(360, -REACH);
    c.save();
    c.beginPath();
    c.rect(left, top, right - left, bottom - top);
    c.clip();

    c.beginPath();
    const upper = trace(found.map(({ mean, sd }) => mean + 2 * sd));
    const lower = trace(found.map(({ mean, sd }) => mean - 2 * sd));
    for (const [x, y] of [...upper, ...lower.reverse()]) c.lineTo(x, y);
    c.fillStyle = this.warm;
    c.globalAlpha = 0.16;
    c.fill();
    const line = (values, colour, thickness, alpha) => {
      c.beginPath();
      for (const [x, y] of trace(values)) c.lineTo(x, y);
      Object.assign(c, { strokeStyle: colour, lineWidth: thickness, globalAlpha: alpha });
      c.stroke();
    };
    for (const draw of this.draws) line(grid.map(this.process.sample(draw)), ink, 1, 0.35);
    line(found.map(({ mean }) => mean), this.warm, 2.5, 1);
    c.restore();
  }

  axes(c, ink, font) {
    Object.assign(c, { font: `12px ${font}`, fillStyle: ink, strokeStyle: ink, lineWidth: 1 });
    const [left] = this.toPixels(0, 0);
    const [right, bottom] = this.toPixels(360, -REACH);
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const z of [-2, 0, 2]) {
      const y = this.toPixels(0, z)[1];
      c.globalAlpha = 0.12;
      c.beginPath();
      c.moveTo(left, y);
      c.lineTo(right, y);
      c.stroke();
      c.globalAlpha = 0.65;
      c.fillText(minus(z), left - 8, y);
    }
    c.textAlign = "center";
    c.textBaseline = "top";
    for (const w of [0, 90, 180, 270, 360]) {
      c.globalAlpha = 0.65;
      c.fillText(`${w}°`, clamp(this.toPixels(w, 0)[0], left + 6, right - 10), bottom + 12);
    }
    c.globalAlpha = 1;
    const step = (right - left) / 120;
    for (let i = 0; i < 120; i++) {
      c.fillStyle = this.colour(3 * i);
      c.fillRect(left + i * step, bottom + 3, step + 0.5, 4);
    }
  }

  update(_, setStateValue) {
    this.send = (state) => setStateValue("state", state);
    this.paint(); // the theme may have changed
  }

  destroy() {
    this.stop.abort();
    this.sizes.disconnect();
  }
}

export default mount((root, data) => new ClickGP(root, data));
