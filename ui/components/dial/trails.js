// Paths through the picture: the mean path and sampled ones, each with a dot where it is now.
import { svg } from "../shared/dom.js";
import { unpacked } from "../shared/maths.js";

export class Trails {
  constructor(place) {
    this.place = place;
  }

  // paths [K, S, 2] as shares of the picture, the mean first
  show(trails) {
    this.place.toggleAttribute("hidden", !trails);
    const [count, steps] = trails?.shape ?? [0, 0];
    const values = trails && unpacked(trails.values);
    this.paths = Array.from({ length: count }, (_, k) => {
      const kind = k ? "sample" : "mean";
      const points = Array.from({ length: steps }, (_, s) => [0, 1].map((axis) => values[2 * (k * steps + s) + axis]));
      const text = points.map((point) => point.map((value) => value.toFixed(4))).join(" ");
      const line = svg("polyline", { class: kind, points: text });
      return { points, line, dot: svg("circle", { class: kind, r: k ? 0.01 : 0.016 }) };
    });
    this.place.replaceChildren(...this.paths.toReversed().flatMap(({ line, dot }) => [line, dot]));
  }

  // share: of the way, from 0 to 1
  draw(share) {
    for (const { points, dot } of this.paths) {
      const place = share * (points.length - 1);
      const left = Math.min(Math.floor(place), points.length - 2);
      ["cx", "cy"].forEach((name, axis) => {
        const [a, b] = [points[left][axis], points[left + 1][axis]];
        dot.setAttribute(name, a + (place - left) * (b - a));
      });
    }
  }
}
