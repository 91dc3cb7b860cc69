// Turns a dial until it is stopped.
import { still } from "../shared/pose.js";

const SPEED = 45; // degrees a second

export class Player {
  playing = false;

  // advance(degrees) is called for every step
  constructor(button, action, advance) {
    Object.assign(this, { button, action, advance });
    this.word = button.querySelector(".word");
    this.word.textContent = action;
  }

  // returns whether this changed the state
  run(go) {
    if (go === this.playing) return false;
    this.playing = go;
    this.button.ariaPressed = String(go);
    this.word.textContent = go ? "stop" : this.action;
    cancelAnimationFrame(this.frame);
    clearInterval(this.stepping);
    if (go && still.matches) this.stepping = setInterval(() => this.advance(22.5), 900);
    else if (go) this.step(performance.now());
    return true;
  }

  step(last) {
    this.frame = requestAnimationFrame((now) => {
      this.step(now);
      this.advance((SPEED * Math.max(0, now - last)) / 1000);
    });
  }
}
