// A sheet to draw a digit or a path on: strokes are lists of points [x, y] in shares of its side.
import { listen, mount, onDrag, parts, svg } from "../shared/dom.js";
import { ARROWS, clamp, within } from "../shared/maths.js";
import { poseOf } from "../shared/pose.js";

const NEAR = 0.004; // points closer than this to the previous one are skipped

class Drawing {
  past = []; // earlier strokes for undo, the newest last
  stroke = null; // the stroke that is being drawn
  pen = [0.5, 0.5]; // where the arrow keys have moved it

  constructor(root) {
    Object.assign(this, { root }, parts(root, "paper", "undo", "clear", "see"));
    onDrag(this.paper, (event) => this.press(event), 0);
    listen(this.paper, { keydown: (event) => this.key(event), blur: () => this.finish() });
    this.undo.addEventListener("click", () => this.back());
    this.clear.addEventListener("click", () => this.change([]));
    this.see.addEventListener("click", () => poseOf(this.dial).picture?.canvas.scrollIntoView({ block: "center" }));
    this.pressed = (event) => this.shortcut(event);
    document.addEventListener("keydown", this.pressed);
  }

  destroy() {
    document.removeEventListener("keydown", this.pressed);
  }

  // Ctrl+Z or Command+Z here, or where nothing has the focus
  shortcut(event) {
    const { key, ctrlKey, metaKey, shiftKey, altKey } = event;
    if (key.toLowerCase() !== "z" || !(ctrlKey || metaKey) || shiftKey || altKey) return;
    const here = event.target === document.body || event.composedPath().includes(this.root);
    if (!here || this.undo.disabled) return;
    event.preventDefault();
    this.back();
  }

  update({ strokes, width, margin, thing, sheet, dial }) {
    Object.assign(this, { margin, thing, dial });
    this.paper.style.strokeWidth = width;
    // from then on the browser's strokes are the current ones
    if (sheet !== this.sheet) Object.assign(this, { sheet, strokes, past: [] });
    this.paint();
  }

  inner(point) {
    return point.map((place) => Math.round(clamp(place, this.margin, 1 - this.margin) * 1000) / 1000);
  }

  press(event) {
    if (event.button !== 0) return null;
    this.finish();
    const at = (each) => this.inner(within(each, this.paper));
    this.stroke = [at(event)];
    this.paint();
    const move = (moved) => {
      for (const each of moved.getCoalescedEvents?.() ?? [moved]) {
        const [x, y] = at(each);
        const [before, above] = this.stroke.at(-1);
        if (Math.hypot(x - before, y - above) > NEAR) this.stroke.push([x, y]);
      }
      this.paint();
    };
    return { move, end: () => this.finish() };
  }

  // the arrow keys move the pen, Space puts it down and lifts it
  key(event) {
    const step = ARROWS[event.key];
    if (!step && event.key !== " ") return;
    event.preventDefault();
    if (!step && this.stroke) return this.finish();
    const far = event.shiftKey ? 0.05 : 0.015;
    this.pen = this.inner(this.pen.map((place, k) => place + far * (step?.[k] ?? 0)));
    if (!step) this.stroke = [];
    this.stroke?.push(this.pen);
    this.paint();
  }

  finish() {
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
    this.trigger("drawn", { strokes });
  }

  // a path is one stroke, which a new one replaces
  all() {
    if (!this.stroke) return this.strokes;
    return this.margin ? [this.stroke] : [...this.strokes, this.stroke];
  }

  paint() {
    const { margin } = this;
    const all = this.all();
    const label = all.length ? `Your ${this.thing}, strokes: ${all.length}` : `Draw a ${this.thing} here`;
    const hint = svg("text", { x: 0.5, y: 0.5 });
    hint.textContent = all.length ? "" : label;
    const square = (className, x, y, width) => svg("rect", { class: className, x, y, width, height: width });
    this.paper.replaceChildren(
      ...(margin ? [square("field", margin, margin, 1 - 2 * margin)] : []),
      ...(margin ? all.map(([[x, y]]) => square("start", x - 0.016, y - 0.016, 0.032)) : []),
      ...all.map((stroke) => svg("polyline", { points: [stroke[0], ...stroke].join(" ") })), // also of one point
      hint,
      svg("circle", { class: "pen", cx: this.pen[0], cy: this.pen[1], r: 0.02 }),
    );
    this.paper.ariaLabel = label;
    this.clear.disabled = this.see.disabled = !this.strokes.length;
    this.undo.disabled = this.clear.disabled && !this.past.length;
  }
}

export default mount(Drawing);
