// The slider below the ring and the number field.
import { listen } from "./dom.js";

export class Degrees {
  // go(angle) while it moves, done() when it is let go, back() when typing has ended
  constructor(slide, typed, go, done, back) {
    Object.assign(this, { slide, typed });
    for (const input of [slide, typed]) {
      const moved = () => {
        this.typing = input === typed;
        if (input.value !== "" && Number.isFinite(input.valueAsNumber)) go(input.valueAsNumber);
      };
      listen(input, { input: moved, change: done });
    }
    const ended = () => {
      this.typing = false;
      back();
    };
    listen(typed, { change: ended, blur: ended });
  }

  // the track has the colours of the angles
  colour(cycle) {
    this.slide.style.setProperty("--track", `linear-gradient(90deg, ${[...cycle, cycle[0]].join(", ")})`);
  }

  // do not change the field while the user types
  show(text) {
    this.slide.value = text;
    if (!this.typing) this.typed.value = text;
  }
}
