// A picture that the user turns upright. Its angle is how far the digit is rotated counter-clockwise; the picture
// is shown rotated back by that, so turning it clockwise adds to the angle.
import { Degrees } from "../shared/degrees.js";
import { listen, parts } from "../shared/dom.js";
import { around, sliderKeys, turned } from "../shared/geometry.js";
import { mount } from "../shared/mount.js";

const LEAST = 8; // minimum distance in pixels from the centre at which a pointer has a direction

class Upright {
  angle = 0; // degrees
  sent = null; // time of an angle that the server has not answered

  constructor(root) {
    const { slide, typed, ...rest } = parts(root, "plate", "turned", "hold", "leave", "slide", "typed");
    Object.assign(this, rest);
    const go = (angle) => this.turn(angle);
    this.degrees = new Degrees(slide, typed, go, () => this.commit(), () => this.draw());
    listen(this.hold, {
      pointerdown: (event) => this.press(event),
      pointermove: (event) => this.move(event),
      pointerup: () => this.lift(),
      pointercancel: () => this.lift(),
      keydown: (event) => this.key(event),
    });
    this.leave.addEventListener("click", () => this.tell(null));
  }

  update(data, _, trigger) {
    this.trigger = trigger;
    if (this.drawing !== data.drawing) this.turned.innerHTML = this.drawing = data.drawing;
    this.degrees.colour(data.cycle);
    if (this.sent !== null && data.answered !== this.sent) return; // a run from before the turn
    this.sent = null;
    this.leave.hidden = !data.stated;
    if (this.pressed || this.typing) return;
    Object.assign(this, { angle: data.angle, stated: data.stated });
    this.draw();
  }

  press(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    this.hold.focus({ preventScroll: true, focusVisible: false });
    this.hold.setPointerCapture(event.pointerId);
    const { angle } = around(event, this.plate);
    this.pressed = { from: this.angle, offset: this.angle + angle };
    this.plate.classList.add("turning");
  }

  move(event) {
    if (!this.pressed) return;
    const { angle, radius, side } = around(event, this.plate);
    if (radius * side > LEAST) this.turn(this.pressed.offset - angle);
  }

  lift() {
    const { pressed } = this;
    this.pressed = null;
    this.plate.classList.remove("turning");
    if (pressed && pressed.from !== this.angle) this.commit();
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
    clearTimeout(this.typing);
    this.typing = null;
    this.tell(this.angle);
  }

  tell(angle) {
    this.sent = performance.now();
    this.trigger("turned", { angle, sent: this.sent });
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
  }
}

export default mount((root) => new Upright(root));
