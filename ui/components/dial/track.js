// The track: the dial for views on a line. An "angle" of it is a share of the way, from 0 to 100.
import { Dial, RADIUS } from "./dial.js";
import { mount } from "./mount.js";
import { Table } from "./series.js";

const LENGTH = 100;

export class Track extends Dial {
  curves = Table;
  action = "go";

  get span() {
    return LENGTH;
  }

  // from -1 to 1
  toModel(angle) {
    return (2 * angle) / LENGTH - 1;
  }

  apart(a, b) {
    return Math.abs(a - b);
  }

  reach({ angle, side }) {
    return (side * Math.abs(angle - this.live.angle)) / LENGTH;
  }

  bounded(angle) {
    return Math.min(LENGTH, Math.max(0, angle));
  }

  place(button, angle) {
    button.style.left = `${angle}%`;
    button.style.top = "50%";
  }

  pointTo(angle) {
    this.arm.style.left = `${angle}%`;
  }

  pointed(event) {
    const box = this.arm.parentElement.getBoundingClientRect();
    return { angle: (LENGTH * (event.clientX - box.left)) / box.width, radius: RADIUS, side: box.width };
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

  // to the end, and again from the start
  onward(degrees) {
    const { angle } = this.live;
    return angle >= LENGTH ? 0 : Math.min(LENGTH, angle + degrees / 2);
  }

  drawRing() {
    const { clientWidth: width, clientHeight: height } = this.ring;
    if (!width || !this.widths) return;
    const scale = Math.min(3, devicePixelRatio || 1);
    this.ring.width = Math.round(width * scale);
    this.ring.height = Math.round(height * scale);
    const pen = this.ring.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    const colours = pen.createLinearGradient(0, 0, width, 0);
    const { cycle } = this.data;
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

export default mount(Track);
