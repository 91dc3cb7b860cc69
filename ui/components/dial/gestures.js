// Pointer and keys on the ring and on the digit itself.
import { listen } from "../shared/dom.js";
import { RADIUS } from "./ring.js";

export class Gestures {
  constructor(dial) {
    this.dial = dial;
    listen(dial.stage, {
      pointerdown: (event) => this.press(event),
      pointermove: (event) => this.move(event),
      pointerup: (event) => this.lift(event, true),
      pointercancel: (event) => this.lift(event, false),
    });
    dial.views.box.addEventListener("click", (event) => {
      // pointer clicks are handled in `lift`; detail 0 is a click from the keyboard
      const button = event.target.closest(".view");
      if (button && event.detail === 0) dial.toggle(Number(button.dataset.index));
    });
    dial.grab.addEventListener("keydown", (event) => this.key(event));
    dial.degrees.slide.addEventListener("keydown", (event) => {
      if (event.key in dial.shape.keys(0, 1)) this.key(event); // as on the ring
    });
  }

  press(event) {
    const { live, stage, grab, shape, views } = this.dial;
    const onDot = event.target.closest(".view");
    if (event.button !== 0 || (!onDot && event.target !== grab)) return;
    event.preventDefault();
    grab.focus({ preventScroll: true, focusVisible: false });
    this.dial.halt();
    stage.setPointerCapture(event.pointerId);
    const pointed = shape.pointed(event, this.dial);
    const { angle, radius, side } = pointed;
    const onRing = Math.abs(radius - RADIUS) * side < 34;
    const onHandle = onRing && shape.reach(pointed, live.angle) < 20;
    const target = onDot ? views.meant(pointed) : null;
    this.turning = {
      pointer: event.pointerId,
      x: event.clientX,
      y: event.clientY,
      offset: onRing && !onHandle ? 0 : live.angle - angle,
      view: target ?? (onHandle ? views.at(live.angle) : null), // the handle may cover a dot
      far: false,
      jump: onRing && !onHandle && target === null,
    };
    stage.classList.add("turning");
    if (this.turning.jump) this.turn(angle, event);
  }

  move(event) {
    const { turning } = this;
    if (turning?.pointer !== event.pointerId) return;
    if (!turning.far && Math.hypot(event.clientX - turning.x, event.clientY - turning.y) < 4) return;
    turning.far = true;
    const { angle, radius, side } = this.dial.shape.pointed(event, this.dial);
    if (radius * side > 8) this.turn(angle + turning.offset, event);
  }

  turn(angle, event) {
    const { live, shape, views } = this.dial;
    live.set({ angle: shape.bounded(event.altKey ? angle : views.rest(angle)) });
  }

  lift(event, done) {
    const { turning } = this;
    if (turning?.pointer !== event.pointerId) return;
    this.turning = null;
    this.dial.stage.classList.remove("turning");
    if (turning.far || turning.jump) this.dial.turned();
    else if (done) this.dial.toggle(turning.view);
  }

  key(event) {
    const { live, shape, views } = this.dial;
    const keys = shape.keys(live.angle, event.shiftKey ? 22.5 : 1);
    if (event.key in keys) {
      this.dial.halt();
      live.set({ angle: shape.bounded(Math.round(keys[event.key] * 100) / 100) });
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.dial.turned(), 300);
    } else if (event.key === " ") {
      this.dial.play(!this.dial.player.playing);
    } else if (event.key === "Enter") {
      this.dial.toggle(views.at(live.angle));
    } else {
      return;
    }
    event.preventDefault();
  }
}
