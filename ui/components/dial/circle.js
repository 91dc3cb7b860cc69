// Views all around: the dial's angles are degrees, counter-clockwise from the top.
import { apart, around, radians } from "../shared/geometry.js";
import { RADIUS, Ring } from "./ring.js";
import { Series } from "./series.js";

export class Circle {
  Curves = Series;
  Band = Ring;
  span = 360;
  action = "turn"; // what the button does
  apart = apart;

  // an angle of the dial as the model sees it
  toModel(angle, frequency) {
    return radians(angle) * frequency;
  }

  // where the dial stands after a step, or may be dragged to
  bounded(angle) {
    return angle;
  }

  // where it is after it has turned this far by itself
  onward(angle, degrees) {
    return angle + degrees;
  }

  keys(angle, step) {
    return {
      ArrowLeft: angle + step,
      ArrowUp: angle + step,
      ArrowRight: angle - step,
      ArrowDown: angle - step,
      PageUp: angle + 22.5,
      PageDown: angle - 22.5,
      Home: 0,
      End: 337.5,
    };
  }

  place(element, angle) {
    const w = radians(angle);
    element.style.left = `${50 - 100 * RADIUS * Math.sin(w)}%`;
    element.style.top = `${50 - 100 * RADIUS * Math.cos(w)}%`;
  }

  pointTo(arm, angle) {
    arm.style.transform = `rotate(${-angle}deg)`;
  }

  // where a pointer is; the radius in sides of the stage
  pointed(event, { stage }) {
    return around(event, stage);
  }

  // from the pointer to the handle, pixels
  reach({ angle, radius, side }, handle) {
    return radius * side * radians(apart(angle, handle));
  }
}
