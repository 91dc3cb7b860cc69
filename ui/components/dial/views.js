// The dots on the ring: views that the model may be shown.
import { element } from "../shared/dom.js";

const DETENT = 0.8; // degrees within which the handle rests on a view
const DOT_SHARE = 0.35; // of the way from a dot to the next that belongs to the dot

export class Views {
  constructor(box, shape) {
    this.box = box;
    this.shape = shape;
    this.buttons = [];
    this.observed = [];
  }

  // words: an angle as it is read
  show(data, words) {
    this.data = data;
    this.words = words;
    // a click may be ahead of the server, whose answer to an earlier one is this
    const ahead = this.clicked && performance.now() - this.clicked < 2000;
    const same = ahead && data.observed.every((seen, index) => seen === this.observed[index]);
    if (!ahead || same) this.clicked = null;
    if (!this.clicked) this.observed = [...data.observed];
    this.make();
  }

  make() {
    const { angles, heldOut, heldOutText, editable, scale } = this.data;
    if (this.buttons.length !== angles.length) {
      this.buttons = angles.map(() => element("button", { type: "button", tabIndex: -1 }));
      this.buttons.forEach((button, index) => (button.dataset.index = index));
      this.box.replaceChildren(...this.buttons);
    }
    this.buttons.forEach((button, index) => {
      this.shape.place(button, angles[index]);
      const held = heldOut.includes(index);
      const seen = this.observed[index];
      button.className = held && !seen ? "view held" : "view";
      button.disabled = !editable || held;
      button.ariaPressed = String(seen);
      const where = scale.degrees ? `${angles[index]}°` : this.words(angles[index]);
      const state = seen ? "observed" : held ? heldOutText : "not observed";
      const act = `click to ${seen ? "hide this view from" : "show this view to"} the model`;
      button.ariaLabel = `View at ${where.replace("°", " degrees")}, ${state}`;
      button.title = `${where}: ${button.disabled ? state : act}`;
    });
  }

  // the index of the view at an angle, or null
  at(angle) {
    const distances = this.data.angles.map((each) => this.shape.apart(each, angle));
    const least = Math.min(...distances);
    return least < DETENT ? distances.indexOf(least) : null;
  }

  // the index of the view that a pointer means, or null: on a small ring the dots are close to each
  // other, and some of the way between two of them is left for turning
  meant(pointed) {
    const reach = this.data.angles.map((angle) => this.shape.reach(pointed, angle));
    const nearest = reach.indexOf(Math.min(...reach));
    const next = Math.min(...reach.filter((_, index) => index !== nearest));
    const between = reach[nearest] > DOT_SHARE * (reach[nearest] + next);
    return between || this.buttons[nearest].disabled ? null : nearest;
  }

  // the angle of a view that is near, or the angle itself
  rest(angle) {
    return this.data.angles.find((each) => this.shape.apart(each, angle) < DETENT) ?? angle;
  }

  // what is known of an angle: was it seen, is it held out, and that in words
  state(angle) {
    const { angles, heldOut, heldOutText } = this.data;
    const view = this.at(angle);
    const seen = view !== null && this.observed[view];
    const held = !seen && heldOut.some((index) => this.shape.apart(angles[index], angle) < DETENT);
    return { seen, held, caption: seen ? "observed" : held ? heldOutText : "imagined" };
  }

  // indices of the views after a click on one of them, or null if that cannot be
  toggle(index) {
    const next = [...this.observed];
    next[index] = !next[index];
    if (!next.some(Boolean)) return null;
    this.observed = next;
    this.clicked = performance.now();
    this.make();
    return next.flatMap((seen, at) => (seen ? [at] : []));
  }
}
