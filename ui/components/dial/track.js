// The track: the dial for views on a line. An "angle" of it is a share of the way, from 0 to 100.
import { clamp } from "../shared/geometry.js";
import { mount } from "../shared/mount.js";
import { Circle } from "./circle.js";
import { Dial } from "./dial.js";
import { RADIUS, Ring } from "./ring.js";
import { Table } from "./series.js";

const LENGTH = 100;

export class Line extends Circle {
  Curves = Table;
  Band = Rail;
  span = LENGTH;
  action = "go";

  apart = (a, b) => Math.abs(a - b);

  // from -1 to 1
  toModel(angle) {
    return (2 * angle) / LENGTH - 1;
  }

  bounded(angle) {
    return clamp(angle, 0, LENGTH);
  }

  // to the end, and again from the start
  onward(angle, degrees) {
    return angle >= LENGTH ? 0 : Math.min(LENGTH, angle + degrees / 2);
  }

  keys(angle, step) {
    const far = step > 1 ? 10 : 1;
    return {
      ArrowLeft: angle - far,
      ArrowDown: angle - far,
      ArrowRight: angle + far,
      ArrowUp: angle + far,
      PageUp: angle + 10,
      PageDown: angle - 10,
      Home: 0,
      End: LENGTH,
    };
  }

  place(element, angle) {
    element.style.left = `${angle}%`;
    element.style.top = "50%";
  }

  pointTo(arm, angle) {
    arm.style.left = `${angle}%`;
  }

  pointed(event, { arm }) {
    const box = arm.parentElement.getBoundingClientRect();
    return { angle: (LENGTH * (event.clientX - box.left)) / box.width, radius: RADIUS, side: box.width };
  }

  reach({ angle, side }, handle) {
    return (side * Math.abs(angle - handle)) / LENGTH;
  }
}

class Rail extends Ring {
  draw(cycle = this.cycle) {
    this.cycle = cycle;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !this.widths) return;
    const scale = Math.min(3, devicePixelRatio || 1);
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    const colours = pen.createLinearGradient(0, 0, width, 0);
    cycle.forEach((colour, k) => colours.addColorStop(k / (cycle.length - 1), colour));
    const last = this.widths.length - 1;
    const half = (share) => (4 + share * (height - 4)) / 2;
    pen.beginPath();
    this.widths.forEach((share, k) => pen.lineTo((width * k) / last, height / 2 - half(share)));
    [...this.widths].reverse().forEach((share, k) => pen.lineTo(width - (width * k) / last, height / 2 + half(share)));
    pen.closePath();
    pen.fillStyle = colours;
    pen.fill();
  }
}

export default mount((root) => new Dial(root, new Line()));
