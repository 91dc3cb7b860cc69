// A picture turned under the finger until it is upright. Its angle is how far it was turned,
// counter-clockwise; it is shown turned back by that, so that to turn it clockwise adds to the angle.
import { Degrees } from "../shared/degrees.js";
import { around, turned } from "../shared/geometry.js";
import { mount } from "../shared/mount.js";

const LEAST = 8; // pixels from the centre, where a pointer has a direction

class Upright {
  angle = 0; // degrees
  sent = null; // when an angle was sent that the server has not answered

  constructor(root) {
    const $ = (name) => root.querySelector(name);
    Object.assign(this, { root, plate: $(".plate"), turning: $(".turned"), hold: $(".hold"), unsay: $(".unsay") });
    this.degrees = new Degrees($(".slide"), $(".typed"));
    this.stop = new AbortController();
    this.listen();
  }

  listen() {
    const { signal } = this.stop;
    const on = (target, name, act) => target.addEventListener(name, act, { signal });
    on(this.hold, "pointerdown", (event) => this.press(event));
    on(this.hold, "pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) on(this.hold, end, (event) => this.lift(event));
    on(this.hold, "keydown", (event) => this.key(event));
    on(this.unsay, "click", () => this.tell(null));
    this.degrees.listen(on, (angle) => this.turn(angle), () => this.commit(), () => this.draw());
  }

  update(data, _, trigger) {
    this.trigger = trigger;
    if (this.turning.dataset.drawing !== data.drawing) {
      this.turning.dataset.drawing = data.drawing;
      this.turning.innerHTML = data.drawing;
    }
    this.degrees.colour(data.cycle);
    if (this.sent !== null && data.answered !== this.sent) return; // of before it was turned
    this.sent = null;
    this.unsay.style.visibility = data.said ? "visible" : "hidden";
    if (this.pressed || this.typing) return;
    Object.assign(this, { angle: data.angle, said: data.said });
    this.draw();
  }

  press(event) {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    event.preventDefault();
    this.hold.focus({ preventScroll: true, focusVisible: false });
    this.hold.setPointerCapture(event.pointerId);
    const { angle } = around(event, this.plate);
    this.pressed = { pointer: event.pointerId, from: this.angle, offset: this.angle + angle };
    this.plate.classList.add("turning");
  }

  move(event) {
    if (this.pressed?.pointer !== event.pointerId) return;
    const { angle, radius, side } = around(event, this.plate);
    if (radius * side > LEAST) this.turn(this.pressed.offset - angle);
  }

  lift(event) {
    const { pressed } = this;
    if (pressed?.pointer !== event.pointerId) return;
    this.pressed = null;
    this.plate.classList.remove("turning");
    if (pressed.from !== this.angle) this.commit();
  }

  key(event) {
    const step = event.shiftKey ? 15 : 1;
    const keys = {
      ArrowRight: this.angle + step,
      ArrowUp: this.angle + step,
      ArrowLeft: this.angle - step,
      ArrowDown: this.angle - step,
      PageUp: this.angle + 15,
      PageDown: this.angle - 15,
      Home: 0,
      End: 180,
    };
    if (!(event.key in keys)) return;
    event.preventDefault();
    this.turn(keys[event.key]);
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.commit(), 300);
  }

  turn(angle) {
    this.angle = turned(Math.round(10 * angle) / 10);
    this.said = true;
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
    this.turning.style.transform = `rotate(${this.angle}deg)`;
    this.degrees.show(shown);
    this.hold.setAttribute("aria-valuenow", shown);
    const whose = this.said ? "as you say" : "as the model finds";
    this.hold.setAttribute("aria-valuetext", `turned by ${shown} degrees, ${whose}`);
  }

  destroy() {
    clearTimeout(this.typing);
    this.stop.abort();
  }
}

export default mount((root) => new Upright(root));
