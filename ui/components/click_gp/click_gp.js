// A Gaussian process over the angle with points set by clicks, computed in the browser.
import { element, listen, mount, onDrag, parts, svg } from "../shared/dom.js";
import { clamp, gaussian, radians, within } from "../shared/maths.js";
import { Posterior } from "../shared/posterior.js";

const REACH = 3; // the vertical axis runs from -REACH to REACH
const GRID = Array.from({ length: 181 }, (_, i) => 2 * i); // degrees
const DRAWS = 4; // sampled functions
const MOST = 40; // points
const STEPS = { ArrowLeft: [-5, 0], ArrowRight: [5, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
const rounded = (value, digits) => Number(value.toFixed(digits));
const limited = (z) => clamp(rounded(z, 3), -REACH, REACH);
const points = (values) => values.map((z, i) => `${GRID[i]},${(-z).toFixed(4)}`);

class ClickGP {
  constructor(root, { points: marks, sigma, r, noise, cycle, warm }) {
    Object.assign(this, { marks, sigma, r, noise, cycle });
    Object.assign(this, parts(root, "stage", "plot", "curves", "points", "hint", "evidence", "add"));
    const { samples, clear, colours } = parts(root, "samples", "clear", "colours");
    this.stage.style.setProperty("--warm", warm);
    colours.style.background = `linear-gradient(90deg, ${[...cycle, cycle[0]].join(", ")})`;
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
    // a point where the variance is largest, at the mean
    this.add.addEventListener("click", () => {
      const doubt = (w) => this.process.variance(radians(w))[0];
      const angles = Array.from({ length: 72 }, (_, i) => (180 + 5 * i) % 360);
      const w = angles.reduce((most, each) => (doubt(each) > doubt(most) + 1e-9 ? each : most));
      this.put([w, limited(this.process.at(radians(w))[0])]);
      this.points.lastChild.focus(); // the arrow keys move it from here
    });
    samples.addEventListener("click", () => {
      this.shuffle();
      this.draw();
    });
    clear.addEventListener("click", () => {
      this.marks = [];
      this.commit();
    });
    this.draw();
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
    const { marks, sigma, r, noise } = this;
    this.set("state", { points: marks, sigma, r, noise });
  }

  // where a pointer is: degrees and value
  place(event) {
    const [across, down] = within(event, this.plot);
    return [rounded(clamp(360 * across, 0, 360), 1), limited(REACH * (1 - 2 * down))];
  }

  handle() {
    const button = element("button");
    const index = () => [...this.points.children].indexOf(button);
    const remove = () => {
      this.marks.splice(index(), 1);
      this.commit();
    };
    const move = (event) => {
      this.marks[index()] = this.place(event);
      this.draw();
    };
    onDrag(button, () => ({ move, end: (moved) => moved && this.commit() }));
    listen(button, {
      dblclick: remove,
      keydown: (event) => {
        if (event.key === "Delete" || event.key === "Backspace") {
          const next = Math.min(index(), this.marks.length - 2);
          remove();
          (this.points.children[next] ?? this.add).focus();
        } else if (event.key in STEPS) {
          const [w, z] = this.marks[index()].map((value, k) => value + STEPS[event.key][k]);
          this.marks[index()] = [clamp(w, 0, 360), limited(z)];
          this.commit();
        } else return;
        event.preventDefault();
      },
    });
    return button;
  }

  draw() {
    const kernel = { kind: "periodic", amplitude: this.sigma, lengthScale: this.r };
    const views = this.marks.map(([w, z]) => ({ w: radians(w), mean: [z], variance: [this.noise ** 2] }));
    this.process = new Posterior({ kernel, local: 1, latents: 1 }, views);
    while (this.points.children.length > this.marks.length) this.points.lastChild.remove();
    while (this.points.children.length < this.marks.length) this.points.append(this.handle());
    this.marks.forEach(([w, z], index) => {
      const button = this.points.children[index];
      const background = this.cycle[Math.round((w / 360) * this.cycle.length) % this.cycle.length];
      Object.assign(button.style, { left: `${w / 3.6}%`, top: `${50 * (1 - z / REACH)}%`, background });
      button.ariaLabel = `point at ${w} degrees, value ${z}; Delete removes it`;
    });
    this.hint.hidden = this.marks.length > 0;
    const evidence = this.process.evidence().toFixed(2).replace("-", "−");
    this.evidence.textContent = this.marks.length ? `log Z = ${evidence}` : "";
    for (const input of this.inputs) input.previousElementSibling.textContent = this[input.name].toFixed(2);

    const mean = GRID.map((w) => this.process.at(radians(w))[0]);
    const sd = GRID.map((w) => Math.sqrt(this.process.variance(radians(w))[0]));
    const edge = (side) => points(mean.map((each, i) => each + 2 * side * sd[i]));
    const draw = this.process.sampler(GRID.map(radians));
    const line = (kind, values) => svg("polyline", { class: kind, points: values.join(" ") });
    this.curves.replaceChildren(
      line("band", [...edge(1), ...edge(-1).reverse()]),
      ...this.normals.map((normals) => line("sample", points(draw(normals).flat()))),
      line("mean", points(mean)),
    );
  }
}

export default mount(ClickGP);
