// The slider below the ring, and the number that can be typed.
export class Degrees {
  constructor(slide, typed) {
    Object.assign(this, { slide, typed });
  }

  // go(angle) while it moves, done() when it is let go, back() when typing has ended
  listen(on, go, done, back) {
    for (const input of [this.slide, this.typed]) {
      on(input, "input", () => {
        this.typing = input === this.typed;
        if (input.value !== "" && Number.isFinite(input.valueAsNumber)) go(input.valueAsNumber);
      });
      on(input, "change", done);
    }
    for (const end of ["change", "blur"]) {
      on(this.typed, end, () => {
        this.typing = false;
        back();
      });
    }
  }

  // the track has the colours of the angles
  colour(cycle) {
    this.slide.style.setProperty("--cycle", `linear-gradient(90deg, ${[...cycle, cycle[0]].join(", ")})`);
  }

  // what is being typed stays as it is
  show(text) {
    this.slide.value = text;
    if (!this.typing) this.typed.value = text;
  }
}
