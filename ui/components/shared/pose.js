// What the dial and the style card of one page share: the pose, held in the browser.
import { turned } from "./geometry.js";

// On the page itself, because each component loads its own copy of this module.
export const hub = (globalThis.fgpvae ??= { networks: new Map(), poses: new Map(), waiting: new Set() });
export const still = matchMedia("(prefers-reduced-motion: reduce)");

export class LivePose {
  angle = 0; // degrees, counter-clockwise
  style = null; // one number a style, or null for the digit's own
  own = [];
  revision = null; // of the last pose that the server asked for
  listeners = new Set();
  send = null;

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
    this.halt();
    this.set({ angle, style });
  }

  commit() {
    const round = (value, digits) => Number(value.toFixed(digits));
    this.send?.({
      angle: round(this.angle, 2) % 360,
      style: this.style && Array.from(this.style, (value) => round(value, 3)),
      revision: this.revision,
    });
  }

  halt() {
    cancelAnimationFrame(this.gliding);
  }

  // to another style, quickly but visibly
  glide(style) {
    this.halt();
    const from = Array.from(this.values());
    const to = Array.from(style ?? this.own);
    const end = () => {
      this.set({ style });
      this.commit();
    };
    if (still.matches) return end();
    const start = performance.now();
    const step = (now) => {
      const share = Math.min(1, (now - start) / 320);
      const eased = 1 - (1 - share) ** 3;
      if (share === 1) return end();
      this.set({ style: to.map((value, g) => from[g] + eased * (value - from[g])) });
      this.gliding = requestAnimationFrame(step);
    };
    this.gliding = requestAnimationFrame(step);
  }
}

export function poseOf(key) {
  if (!hub.poses.has(key)) hub.poses.set(key, new LivePose());
  return hub.poses.get(key);
}
