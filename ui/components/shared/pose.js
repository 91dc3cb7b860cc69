// What the dial and the style card of one page share: the pose, held in the browser.
import { turned } from "./geometry.js";

export const hub = (globalThis.fgpvae ??= { networks: new Map(), poses: new Map() });
export const still = matchMedia("(prefers-reduced-motion: reduce)");

// Call step(share) for some milliseconds, with shares up to 1 that grow ever more slowly; gives what stops it.
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
  style = null; // one number a style, or null for the digit's own
  own = [];
  revision = null; // of the last pose that the server asked for
  listeners = new Set();
  watchers = new Set(); // of pictures
  send = null;
  subject = null; // which digit it is
  settled = null; // the style when it was last let go
  past = []; // styles before that, the newest last
  stop = () => {}; // ends a glide

  values() {
    return this.style ?? this.own;
  }

  set({ angle = this.angle, style = this.style }) {
    this.angle = turned(angle);
    this.style = style;
    for (const listener of this.listeners) listener();
  }

  // a pose from the server counts only if it is a new wish, not an echo
  receive({ revision, angle, style }, busy) {
    if (revision === this.revision) return;
    this.revision = revision;
    if (busy) return;
    this.stop();
    this.set({ angle, style });
    this.settle();
  }

  // another digit has a style of its own, to which nothing of the past leads
  meet(subject) {
    if (subject === this.subject) return;
    this.subject = subject;
    this.past = [];
    this.settled = this.style;
  }

  // remember the style that was left, to be undone
  settle() {
    if (JSON.stringify(this.style) === JSON.stringify(this.settled)) return;
    this.past.push(this.settled);
    this.settled = this.style && Array.from(this.style);
    for (const listener of this.listeners) listener();
  }

  undo() {
    if (!this.past.length) return;
    this.settled = this.past.pop();
    this.glide(this.settled);
  }

  // the dial has drawn: for those who show the same picture elsewhere
  drawn(picture, beside) {
    Object.assign(this, { picture, beside });
    for (const watcher of this.watchers) watcher(picture, beside);
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

  // to another style, quickly but visibly
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

// Let a view have the pose of a key as `live`, and be told by `changed` of each change.
export function follow(view, key) {
  view.live = poseOf(key);
  view.live.listeners.add(view.changed);
}

export function leave(view) {
  view.live.listeners.delete(view.changed);
}
