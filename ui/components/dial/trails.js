// Paths through the picture: the mean path and sampled ones, each with a dot where it is now.
import { unpacked } from "../shared/numbers.js";

function element(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

export class Trails {
  dots = [];

  constructor(svg) {
    this.svg = svg;
  }

  // paths [K, S, 2] as shares of the picture, the mean first
  show(trails) {
    this.svg.toggleAttribute("hidden", !trails);
    this.dots = [];
    this.svg.replaceChildren();
    if (!trails) return;
    const [count, steps] = trails.shape;
    this.steps = steps;
    this.values = unpacked(trails.values);
    for (let k = count - 1; k >= 0; k--) {
      const kind = k === 0 ? "mean" : "sample";
      const points = Array.from({ length: steps }, (_, s) => this.at(k, s).map((v) => v.toFixed(4)).join(","));
      const dot = element("circle", { class: kind, r: k === 0 ? 0.016 : 0.01 });
      this.svg.append(element("polyline", { class: kind, points: points.join(" ") }), dot);
      this.dots.push([k, dot]);
    }
  }

  at(k, s) {
    const from = 2 * (k * this.steps + s);
    return [this.values[from], this.values[from + 1]];
  }

  // share: of the way, from 0 to 1
  draw(share) {
    const place = share * (this.steps - 1);
    const left = Math.min(Math.floor(place), this.steps - 2);
    for (const [k, dot] of this.dots) {
      const [a, b] = [this.at(k, left), this.at(k, left + 1)];
      ["cx", "cy"].forEach((name, axis) => dot.setAttribute(name, a[axis] + (place - left) * (b[axis] - a[axis])));
    }
  }
}
