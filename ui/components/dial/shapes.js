// The two shapes of a dial, with the same parts: a circle, and a track for views on a line.
import { apart, around, clamp, radians, sliderKeys, unpacked, within } from "../shared/maths.js";

export const RADIUS = 0.43; // of the ring's centre line, in sides of the stage
const THIN = 0.013; // widths of the ring, in sides of the stage
const WIDE = 0.1;
const LENGTH = 100; // of a track

// Its angles are degrees, counter-clockwise from the top.
export const circle = {
  span: 360,
  action: "turn", // label of the button
  keyHelp:
    "Arrow right and up turn counter-clockwise, arrow left and down clockwise. Enter shows this view " +
    "to the model, or hides it. Space starts and stops turning.",
  // values at even places, up to the end
  closed: (values) => [...values, values[0]],
  // a Fourier series: 1, cos kw, sin kw
  basis: (w, k, count) => (2 * k < count ? Math.cos(k * w) : Math.sin((k - (count - 1) / 2) * w)),
  apart,
  // convert an angle of the dial to the model's coordinate
  toModel: (angle, frequency) => radians(angle) * frequency,
  // limit an angle to the valid range
  bounded: (angle) => angle,
  // the angle after playing this far
  onward: (angle, degrees) => angle + degrees,
  // the angle at a share of a recording
  along: (start, share) => start + 360 * share,
  keys: (angle, step) => sliderKeys(angle, step, 22.5, 0, 337.5),
  place({ style }, angle) {
    const w = radians(angle);
    style.left = `${50 - 100 * RADIUS * Math.sin(w)}%`;
    style.top = `${50 - 100 * RADIUS * Math.cos(w)}%`;
  },
  pointTo: (arm, angle) => (arm.style.transform = `rotate(${-angle}deg)`),
  // position of a pointer; the radius in sides of the stage
  pointed: (event, { stage }) => around(event, stage),
  // from the pointer to the handle, pixels
  reach: ({ angle, radius, side }, handle) => radius * side * radians(apart(angle, handle)),
  // colours of the band; a conic gradient runs clockwise, our angles do not
  gradient: (cycle) => `conic-gradient(${[...cycle, cycle[0]].reverse()})`,
  // a point of the band's edge: share of the way, width from 0 to 1, side 1 or -1
  edge(way, width, side) {
    const w = 2 * Math.PI * way;
    const radius = 100 * (RADIUS + (side / 2) * (THIN + width * (WIDE - THIN)));
    return `${50 - radius * Math.sin(w)}% ${50 - radius * Math.cos(w)}%`;
  },
};

// Its "angle" is the position in percent.
export const track = {
  span: LENGTH,
  action: "play",
  keyHelp:
    "The arrow keys move along the track. Enter shows this view to the model, or hides it. " +
    "Space starts and stops playing.",
  closed: (values) => values,
  // straight lines between values on an even grid from -1 to 1
  basis: (w, k, count) => Math.max(0, 1 - Math.abs(((clamp(w, -1, 1) + 1) / 2) * (count - 1) - k)),
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
  gradient: (cycle) => `linear-gradient(90deg, ${cycle})`,
  edge: (way, width, side) => `${100 * way}% ${50 + side * (6 + 44 * width)}%`,
};

// A code as a function of the model's coordinate: coefficients [rows, columns] of the basis of a shape.
export class Curves {
  constructor({ basis }, { shape: [rows], values }) {
    Object.assign(this, { basis, rows, values: unpacked(values) });
  }

  at(w) {
    const { basis, rows, values } = this;
    const count = values.length / rows;
    const waves = Float64Array.from({ length: count }, (_, k) => basis(w, k, count));
    return Float64Array.from({ length: rows }, (_, row) =>
      waves.reduce((sum, wave, k) => sum + values[row * count + k] * wave, 0),
    );
  }
}

// Draw the ring or rail: a colour for each angle, thin where a view was observed, wide where the model is unsure.
export function drawBand({ style }, shape, widths, cycle) {
  const all = shape.closed(widths);
  const edge = (side) => all.map((width, k) => shape.edge(k / (all.length - 1), width, side));
  style.background = shape.gradient(cycle);
  style.clipPath = `polygon(${[...edge(1), ...edge(-1).reverse()]})`;
}
