// One hint for a first visit, hidden for good once the dial has been turned.
const USED = "fgpvae-dial-used";

// A browser may forbid storage, e.g. for a file; the hint is then shown on every visit.
function stored(act) {
  try {
    return act(localStorage);
  } catch (error) {
    if (error instanceof DOMException) return null;
    throw error;
  }
}

export class Hint {
  constructor(element) {
    this.element = element;
    element.hidden = Boolean(stored((storage) => storage.getItem(USED)));
  }

  used() {
    this.element.hidden = true;
    stored((storage) => storage.setItem(USED, "yes"));
  }
}
