// The ring: a colour for each angle, thin where a view was observed, wide where the model is unsure.
import { sharp } from "../shared/dom.js";
import { ease } from "../shared/pose.js";

export const RADIUS = 0.43; // of the ring's centre line, in sides of the stage
const THIN = 0.013; // widths of the ring, in sides of the stage
const WIDE = 0.1;

export class Ring {
  constructor(canvas) {
    this.canvas = canvas;
  }

  // animate to other widths, shares from 0 to 1
  widen(to) {
    this.widths ??= to;
    const from = this.widths;
    this.stop?.();
    this.stop = ease(220, (share) => {
      this.widths = to.map((value, k) => from[k] + share * (value - from[k]));
      this.draw();
    });
  }

  draw(cycle = this.cycle) {
    this.cycle = cycle;
    const side = this.canvas.parentElement.clientWidth;
    if (!side || !cycle) return;
    const pen = sharp(this.canvas, side, side);
    pen.scale(side, side);
    // a conic gradient runs clockwise, our angles do not
    const colours = pen.createConicGradient(-Math.PI / 2, 0.5, 0.5);
    for (let k = 0; k <= cycle.length; k++) {
      colours.addColorStop(1 - k / cycle.length, cycle[k % cycle.length]);
    }
    const band = new Path2D();
    for (const side of [0.5, -0.5]) {
      const edge = new Path2D();
      this.widths.forEach((share, k) => {
        const w = (2 * Math.PI * k) / this.widths.length;
        const radius = RADIUS + side * (THIN + share * (WIDE - THIN));
        edge.lineTo(0.5 - radius * Math.sin(w), 0.5 - radius * Math.cos(w));
      });
      edge.closePath();
      band.addPath(edge);
    }
    pen.fillStyle = colours;
    pen.fill(band, "evenodd");
  }
}
