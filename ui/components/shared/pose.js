// The pose that the dial and the style card of a page share in the browser.
import { turned } from "./maths.js";

export const hub = (globalThis.fgpvae ??= { networks: new Map(), poses: new Map() });
export const still = matchMedia("(prefers-reduced-motion: reduce)");

// Call step(share) for some milliseconds with decelerating shares up to 1; returns a function that stops it.
export function ease(duration, step) {
  if (still.matches) {
    step(1);
    return () => {};
  }
  const start = performance.now();
  let frame;
  const next = (now) => {
    const share = Math.min(1, Math.max(0, now - start) / duration);
    if (share < 1) frame = requestAnimationFrame(next);
    step(1 - (1 - share) ** 3);
  };
  frame = requestAnimationFrame(next);
  return () => cancelAnimationFrame(frame);
}

class LivePose {
  angle = 0; // degrees, counter-clockwise
  style = null; // numbers, or null for the digit's own style
  own = [];
  revision = null; // revision of the last pose from the server
  listeners = new Set();
  watchers = new Set(); // functions called after the dial has drawn
  send = null;
  subject = null; // id of the digit
  settled = null; // the style after the last drag
  past = []; // earlier styles for undo, the newest last
  stop = () => {}; // stops an animation

  values() {
    return this.style ?? this.own;
  }

  set({ angle = this.angle, style = this.style }) {
    this.angle = turned(angle);
    this.style = style;
    for (const listener of this.listeners) listener();
  }

  // a pose from the server counts only if its revision is new
  receive({ revision, angle, style }, busy) {
    if (revision === this.revision) return;
    this.revision = revision;
    if (busy) return;
    this.stop();
    this.set({ angle, style });
    this.settle();
  }

  // reset style and undo for another digit
  meet(subject) {
    if (subject === this.subject) return;
    this.subject = subject;
    this.past = [];
    this.settled = this.style;
  }

  // store the previous style for undo
  settle() {
    if (JSON.stringify(this.style) === JSON.stringify(this.settled)) return;
    this.past.push(this.settled);
    this.settled = this.style && Array.from(this.style);
    for (const listener of this.listeners) listener();
  }

  // mark the current style, to which `unwind` goes back without a trace
  mark() {
    this.marked = this.past.length;
  }

  unwind() {
    if (this.past.length > this.marked) [this.settled] = this.past.splice(this.marked);
  }

  undo() {
    if (!this.past.length) return;
    this.settled = this.past.pop();
    this.glide(this.settled);
  }

  // called after the dial has drawn, for copies of its picture
  drawn(picture, beside) {
    Object.assign(this, { picture, beside });
    for (const watcher of this.watchers) watcher();
  }

  commit() {
    this.settle();
    const round = (value, digits) => Number(value.toFixed(digits));
    this.send?.({
      angle: round(this.angle, 2) % 360,
      style: this.style && Array.from(this.style, (value) => round(value, 3)),
      revision: this.revision,
    });
  }

  glide(style) {
    this.stop();
    const from = Array.from(this.values());
    const to = Array.from(style ?? this.own);
    this.stop = ease(320, (share) => {
      if (share < 1) return this.set({ style: to.map((value, g) => from[g] + share * (value - from[g])) });
      this.set({ style });
      this.commit();
    });
  }
}

export function poseOf(key) {
  if (!hub.poses.has(key)) hub.poses.set(key, new LivePose());
  return hub.poses.get(key);
}

// Give a view the pose of a key as `live`, and call its `draw` after each change, once a frame.
export function follow(view, key) {
  view.live = poseOf(key);
  view.changed = () =>
    (view.frame ??= requestAnimationFrame(() => {
      view.frame = null;
      view.draw();
    }));
  view.live.listeners.add(view.changed);
}

export const leave = (view) => view.live.listeners.delete(view.changed);
