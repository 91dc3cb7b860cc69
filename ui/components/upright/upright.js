// A picture that the user turns upright. Its angle is how far the digit is rotated counter-clockwise; the picture
// is shown rotated back by that, so turning it clockwise adds to the angle.
import { Degrees } from "../shared/degrees.js";
import { mount, onDrag, parts } from "../shared/dom.js";
import { around, sliderKeys, turned } from "../shared/maths.js";

const LEAST = 8; // minimum distance in pixels from the centre at which a pointer has a direction

class Upright {
  angle = 0; // degrees

  constructor(root) {
    const { slide, typed } = parts(root, "slide", "typed");
    Object.assign(this, parts(root, "plate", "turned", "hold", "leave"));
    const go = (angle) => this.turn(angle);
    this.degrees = new Degrees(slide, typed, go, () => this.commit(), () => this.draw());
    onDrag(this.hold, (event) => this.press(event), 0);
    this.hold.addEventListener("keydown", (event) => this.key(event));
    this.leave.addEventListener("click", () => this.trigger("turned", { angle: null }));
  }

  update(data, stale) {
    if (this.drawing !== data.drawing) this.turned.innerHTML = this.drawing = data.drawing;
    this.degrees.colour(data.cycle);
    if (stale) return;
    this.leave.hidden = !data.stated;
    if (this.typing || this.hold.matches(".dragged")) return;
    Object.assign(this, { angle: data.angle, stated: data.stated });
    this.draw();
  }

  press(event) {
    if (event.button !== 0) return null;
    const from = this.angle;
    const start = from + around(event, this.plate).angle;
    const move = (now) => {
      const { angle, radius, side } = around(now, this.plate);
      if (radius * side > LEAST) this.turn(start - angle);
    };
    return { move, end: () => this.angle !== from && this.commit() };
  }

  key(event) {
    const step = event.shiftKey ? 15 : 1;
    const keys = sliderKeys(this.angle, step, 15, 0, 180);
    if (!(event.key in keys)) return;
    event.preventDefault();
    this.turn(keys[event.key]);
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.commit(), 300);
  }

  turn(angle) {
    this.angle = turned(Math.round(10 * angle) / 10);
    this.stated = true;
    this.draw();
  }

  commit() {
    this.destroy();
    this.trigger("turned", { angle: this.angle });
  }

  draw() {
    const shown = `${Math.round(10 * this.angle) / 10}`;
    this.turned.style.transform = `rotate(${this.angle}deg)`;
    this.degrees.show(shown);
    this.hold.ariaValueNow = shown;
    this.hold.ariaValueText = `turned by ${shown} degrees, as ${this.stated ? "you say" : "the model finds"}`;
  }

  destroy() {
    clearTimeout(this.typing);
    this.typing = null;
  }
}

export default mount(Upright);
