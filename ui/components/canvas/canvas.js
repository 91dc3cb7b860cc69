// A canvas to draw a digit or a path on: strokes are lists of points [x, y] in shares of its side.
import { listen, parts } from "../shared/dom.js";
import { clamp, within } from "../shared/geometry.js";
import { mount } from "../shared/mount.js";

const NEAR = 0.004; // points closer than this to the previous one are skipped
const typing = "input, textarea, [contenteditable]";

class Drawing {
  strokes = [];
  past = []; // earlier strokes for undo, the newest last
  stroke = null; // the stroke that is being drawn

  constructor(root) {
    Object.assign(this, parts(root, "paper", "undo", "clear"));
    listen(this.paper, {
      pointerdown: (event) => this.down(event),
      pointermove: (event) => this.move(event),
      pointerup: () => this.up(),
      pointercancel: () => this.up(),
    });
    this.undo.addEventListener("click", () => this.back());
    this.clear.addEventListener("click", () => this.change([]));
    this.pressed = (event) => this.key(event);
    document.addEventListener("keydown", this.pressed);
  }

  destroy() {
    document.removeEventListener("keydown", this.pressed);
  }

  // Ctrl+Z or Command+Z, except in text fields
  key(event) {
    const { key, ctrlKey, metaKey, shiftKey, altKey } = event;
    if (key.toLowerCase() !== "z" || !(ctrlKey || metaKey) || shiftKey || altKey) return;
    if (event.composedPath().some((node) => node.matches?.(typing)) || this.undo.disabled) return;
    event.preventDefault();
    this.back();
  }

  update(data, _, trigger) {
    this.send = (strokes) => trigger("drawn", { strokes });
    Object.assign(this, { width: data.width, margin: data.margin, thing: data.thing });
    // from then on the browser's strokes are the current ones
    if (data.sheet !== this.sheet) Object.assign(this, { strokes: data.strokes, past: [] });
    this.sheet = data.sheet;
    this.paint();
  }

  at(event) {
    const inner = (place) => clamp(place, this.margin, 1 - this.margin);
    return within(event, this.paper).map((place) => Math.round(inner(place) * 1000) / 1000);
  }

  down(event) {
    if (this.stroke || event.button !== 0) return;
    event.preventDefault();
    this.paper.setPointerCapture(event.pointerId);
    this.stroke = [this.at(event)];
    this.paint();
  }

  move(event) {
    if (!this.stroke) return;
    for (const each of event.getCoalescedEvents?.() ?? [event]) {
      const [x, y] = this.at(each);
      const [before, above] = this.stroke.at(-1);
      if (Math.hypot(x - before, y - above) > NEAR) this.stroke.push([x, y]);
    }
    this.paint();
  }

  up() {
    if (!this.stroke) return;
    const made = this.all();
    this.stroke = null;
    this.change(made);
  }

  change(strokes) {
    this.past.push(this.strokes);
    this.show(strokes);
  }

  // undo; what was drawn before this page was opened goes stroke by stroke
  back() {
    this.show(this.past.pop() ?? this.strokes.slice(0, -1));
  }

  show(strokes) {
    this.strokes = strokes;
    this.paint();
    this.send(strokes);
  }

  // a path is one stroke, which a new one replaces
  all() {
    if (!this.stroke) return this.strokes;
    return this.margin ? [this.stroke] : [...this.strokes, this.stroke];
  }

  paint() {
    const all = this.all();
    const side = this.paper.width;
    const pen = this.paper.getContext("2d");
    pen.clearRect(0, 0, side, side);
    if (this.margin) {
      Object.assign(pen, { strokeStyle: "#666", lineWidth: 2 });
      pen.strokeRect(...[this.margin, this.margin, 1 - 2 * this.margin, 1 - 2 * this.margin].map((at) => at * side));
      Object.assign(pen, { fillStyle: "#fff" });
      for (const [[x, y]] of all) pen.fillRect(x * side - 9, y * side - 9, 18, 18); // where it starts
    }
    Object.assign(pen, { strokeStyle: "#fff", lineWidth: this.width * side, lineCap: "round", lineJoin: "round" });
    for (const [first, ...rest] of all) {
      pen.beginPath();
      pen.moveTo(first[0] * side, first[1] * side);
      for (const [x, y] of rest.length ? rest : [first]) pen.lineTo(x * side, y * side);
      pen.stroke();
    }
    this.paper.ariaLabel = all.length ? `Your ${this.thing}, strokes: ${all.length}` : `Draw a ${this.thing} here`;
    this.clear.disabled = !this.strokes.length;
    this.undo.disabled = this.clear.disabled && !this.past.length;
  }
}

export default mount((root) => new Drawing(root));
