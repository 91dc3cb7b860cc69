// Turns a dial by itself, until it is stopped.
import { still } from "../shared/pose.js";

const SPEED = 45; // degrees a second

export class Player {
  // advance(degrees) is called for every step
  constructor(button, action, advance) {
    Object.assign(this, { button, action, advance });
    this.word = button.querySelector(".word");
  }

  // true if this changed something
  run(go) {
    if (Boolean(go) === Boolean(this.playing)) return false;
    cancelAnimationFrame(this.playing);
    clearInterval(this.stepping);
    this.playing = null;
    this.button.setAttribute("aria-pressed", go);
    this.word.textContent = go ? "stop" : this.action;
    if (go && still.matches) {
      this.playing = -1;
      this.stepping = setInterval(() => this.advance(22.5), 900);
    } else if (go) {
      let last = performance.now();
      const step = (now) => {
        this.advance((SPEED * Math.max(0, now - last)) / 1000);
        last = now;
        this.playing = requestAnimationFrame(step);
      };
      this.playing = requestAnimationFrame(step);
    }
    return true;
  }
}
