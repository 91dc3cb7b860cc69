// Geometry of views on a circle: angles of the dial are degrees, counter-clockwise from the top.
import { apart, around, radians, sliderKeys } from "../shared/geometry.js";
import { RADIUS, Ring } from "./ring.js";
import { Series } from "./series.js";

export const circle = {
  Curves: Series,
  Band: Ring,
  span: 360,
  action: "turn", // label of the button
  keyHelp:
    "Arrow right and up turn counter-clockwise, arrow left and down clockwise. Enter shows this view " +
    "to the model, or hides it. Space starts and stops turning.",
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
};
