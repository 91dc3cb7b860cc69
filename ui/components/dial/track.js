// The track: the dial for views on a line. Its "angle" is the position in percent, from 0 to 100.
import { sharp } from "../shared/dom.js";
import { clamp, sliderKeys, within } from "../shared/geometry.js";
import { RADIUS, Ring } from "./ring.js";
import { Table } from "./series.js";

const LENGTH = 100;

class Rail extends Ring {
  draw(cycle = this.cycle) {
    this.cycle = cycle;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !cycle) return;
    const pen = sharp(this.canvas, width, height);
    const colours = pen.createLinearGradient(0, 0, width, 0);
    cycle.forEach((colour, k) => colours.addColorStop(k / (cycle.length - 1), colour));
    const edge = (side) => (share, k) => [
      (width * k) / (this.widths.length - 1),
      (height + side * (4 + share * (height - 4))) / 2,
    ];
    pen.beginPath();
    for (const point of [...this.widths.map(edge(-1)), ...this.widths.map(edge(1)).reverse()]) pen.lineTo(...point);
    pen.closePath();
    pen.fillStyle = colours;
    pen.fill();
  }
}

// with the same parts as `circle`
export const track = {
  Curves: Table,
  Band: Rail,
  span: LENGTH,
  action: "go",
  keyHelp:
    "The arrow keys move along the track. Enter shows this view to the model, or hides it. " +
    "Space starts and stops playing.",
  apart: (a, b) => Math.abs(a - b),
  toModel: (angle) => (2 * angle) / LENGTH - 1,
  bounded: (angle) => clamp(angle, 0, LENGTH),
  // to the end, then again from the start
  onward: (angle, degrees) => (angle >= LENGTH ? 0 : Math.min(LENGTH, angle + degrees / 2)),
  along: (_, share) => LENGTH * share,
  keys: (angle, step) => sliderKeys(angle, step > 1 ? 10 : 1, 10, 0, LENGTH),
  place: ({ style }, angle) => Object.assign(style, { left: `${angle}%`, top: "50%" }),
  pointTo: (arm, angle) => (arm.style.left = `${angle}%`),
  pointed(event, { arm: { parentElement: rail } }) {
    return { angle: LENGTH * within(event, rail)[0], radius: RADIUS, side: rail.clientWidth };
  },
  reach: ({ angle, side }, handle) => (side * Math.abs(angle - handle)) / LENGTH,
};
