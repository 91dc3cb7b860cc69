// The dots on the ring: views that can be given to the model.
import { element } from "../shared/dom.js";

const DETENT = 0.8; // degrees within which the handle rests on a view
const DOT_SHARE = 0.35; // share of the gap between dots that belongs to each dot

export class Views {
  constructor(box, shape) {
    Object.assign(this, { box, shape, buttons: [], observed: [] });
  }

  // words: formats an angle
  show(data, stale, words) {
    Object.assign(this, { data, words });
    if (!stale || data.observed.length !== this.observed.length) this.observed = [...data.observed];
    this.make();
  }

  make() {
    const { angles, heldOut, heldOutText, editable, scale } = this.data;
    if (this.buttons.length !== angles.length) {
      this.buttons = angles.map(() => element("button", { type: "button", tabIndex: -1 }));
      this.buttons.forEach((button, index) => (button.dataset.index = index));
      this.box.style.setProperty("--views", angles.length);
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

  // the index of the view that a pointer selects, or null: part of the gap between two dots is for turning
  meant(pointed) {
    const reach = this.data.angles.map((angle) => this.shape.reach(pointed, angle));
    const nearest = reach.indexOf(Math.min(...reach));
    const next = Math.min(...reach.filter((_, index) => index !== nearest));
    const between = reach[nearest] > DOT_SHARE * (reach[nearest] + next);
    return between || this.buttons[nearest].disabled ? null : nearest;
  }

  // snap an angle to a close view
  rest(angle) {
    return this.data.angles[this.at(angle)] ?? angle;
  }

  // state of an angle: observed, held out, and the caption; in another style nothing was observed
  state(angle, style) {
    const { heldOut, heldOutText } = this.data;
    const view = this.at(angle);
    const seen = Boolean(this.observed[view]);
    const held = !seen && heldOut.includes(view);
    return { seen, held, caption: style ? "another style" : seen ? "observed" : held ? heldOutText : "imagined" };
  }

  // toggle a view: indices of the observed views, or null if none would be left
  toggle(index) {
    const next = [...this.observed];
    next[index] = !next[index];
    if (!next.some(Boolean)) return null;
    this.observed = next;
    this.make();
    return next.flatMap((seen, at) => (seen ? [at] : []));
  }
}
