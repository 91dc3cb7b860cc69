// Views all around: the dial's angles are degrees, counter-clockwise from the top.
import { apart, around, radians, sliderKeys } from "../shared/geometry.js";
import { RADIUS, Ring } from "./ring.js";
import { Series } from "./series.js";

export class Circle {
  Curves = Series;
  Band = Ring;
  span = 360;
  action = "turn"; // what the button does
  keyHelp =
    "Arrow right and up turn counter-clockwise, arrow left and down clockwise. Enter gives the model " +
    "the view that is here, or takes it away. Space turns by itself.";
  apart = apart;

  // how many gaps there are between even places all around
  gaps(places) {
    return places;
  }

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

  // where a recording is after a share of it
  along(start, share) {
    return start + this.span * share;
  }

  keys(angle, step) {
    return sliderKeys(angle, step, 22.5, 0, 337.5);
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
