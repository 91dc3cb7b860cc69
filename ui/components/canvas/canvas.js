// A canvas to draw on: strokes are lists of points [x, y] in shares of its side.
import { clamp } from "../shared/geometry.js";

const NEAR = 0.004; // points closer than this to the one before say nothing new
const canvases = new WeakMap();
const round = (value) => Math.round(clamp(value, 0, 1) * 1000) / 1000;

class Drawing {
  strokes = [];
  stroke = null; // under the pen

  constructor(root) {
    this.paper = root.querySelector(".paper");
    this.undo = root.querySelector(".undo");
    this.clear = root.querySelector(".clear");
    this.paper.addEventListener("pointerdown", (event) => this.down(event));
    this.paper.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) this.paper.addEventListener(end, () => this.up());
    this.undo.addEventListener("click", () => this.change(this.strokes.slice(0, -1)));
    this.clear.addEventListener("click", () => this.change([]));
  }

  update(data, send) {
    this.send = send;
    this.width = data.width;
    // afterwards the browser knows best what was drawn
    if (data.sheet !== this.sheet) this.strokes = data.strokes;
    this.sheet = data.sheet;
    this.paint();
  }

  at({ clientX, clientY }) {
    const box = this.paper.getBoundingClientRect();
    return [round((clientX - box.left) / box.width), round((clientY - box.top) / box.height)];
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
    const made = [...this.strokes, this.stroke];
    this.stroke = null;
    this.change(made);
  }

  change(strokes) {
    this.strokes = strokes;
    this.paint();
    this.send(strokes);
  }

  paint() {
    const all = this.stroke ? [...this.strokes, this.stroke] : this.strokes;
    const side = this.paper.width;
    const pen = this.paper.getContext("2d");
    pen.clearRect(0, 0, side, side);
    Object.assign(pen, { strokeStyle: "#fff", lineWidth: this.width * side, lineCap: "round", lineJoin: "round" });
    for (const [first, ...rest] of all) {
      pen.beginPath();
      pen.moveTo(first[0] * side, first[1] * side);
      for (const [x, y] of rest.length ? rest : [first]) pen.lineTo(x * side, y * side);
      pen.stroke();
    }
    this.paper.ariaLabel = all.length ? `Your drawing, strokes: ${all.length}` : "Draw a digit here";
    this.undo.disabled = this.clear.disabled = !this.strokes.length;
  }
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  if (!canvases.has(parentElement)) canvases.set(parentElement, new Drawing(parentElement));
  canvases.get(parentElement).update(data, (strokes) => setTriggerValue("drawn", { strokes }));
}
