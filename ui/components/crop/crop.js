// A picture to cut a digit out of: found boxes can be chosen, corners dragged, a frame drawn anew.
// Edges are left, top, right and bottom in shares of the picture.
import { clamp } from "../shared/geometry.js";

const WHOLE = [0, 0, 1, 1];
const LEAST = 0.03; // side of a frame
const STILL = 5; // pixels: a pointer that moves less has clicked
const HIT = 44; // pixels of a handle
const CORNERS = ["left top", "right top", "left bottom", "right bottom"];
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const croppings = new WeakMap();
const same = (a, b) => a.every((edge, k) => Math.abs(edge - b[k]) < 0.002);

class Cropping {
  edges = WHOLE;
  sent = null; // what the server has not yet answered

  constructor(root) {
    for (const name of ["cropping", "picture", "frame", "boxes", "handles", "hint", "whole"]) {
      this[name] = root.querySelector(`.${name}`);
    }
    this.corners = CORNERS.map((name) => this.handle(name));
    this.handles.append(...this.corners);
    this.cropping.addEventListener("pointerdown", (event) => this.down(event));
    this.cropping.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) {
      this.cropping.addEventListener(end, (event) => this.up(event.type === "pointercancel"));
    }
    this.whole.addEventListener("click", () => this.choose(WHOLE));
    new ResizeObserver(() => this.place()).observe(this.picture);
  }

  update(data, send) {
    this.send = send;
    const edges = data.crop ?? WHOLE;
    if (this.picture.getAttribute("src") !== data.image) {
      this.picture.src = data.image;
      this.sent = null;
    }
    if (this.sent && same(this.sent, edges)) this.sent = null;
    if (!this.sent && !this.pressed) this.edges = edges;
    this.picture.alt = data.label;
    this.hint.textContent = data.hint;
    this.found = data.boxes;
    this.boxes.replaceChildren(...data.boxes.map((box, index) => this.box(box, index)));
    this.place();
  }

  box(box, index) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "box", ariaLabel: `Digit ${index + 1}` });
    button.append(Object.assign(document.createElement("span"), { className: "number", textContent: index + 1 }));
    const [left, top, right, bottom] = box.map((edge) => 100 * edge);
    Object.assign(button.style, {
      left: `${left}%`, top: `${top}%`, width: `${right - left}%`, height: `${bottom - top}%`,
    });
    button.addEventListener("click", () => this.dragged || this.choose(box));
    return button;
  }

  handle(name) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: `handle ${name}`, ariaLabel: `Corner ${name}` });
    button.addEventListener("keydown", (event) => {
      const step = ARROWS[event.key];
      if (!step) return;
      event.preventDefault();
      const size = event.shiftKey ? 0.05 : 0.01;
      this.drag(name, step[0] * size, step[1] * size, this.edges);
    });
    button.addEventListener("keyup", (event) => ARROWS[event.key] && this.choose(this.edges));
    return button;
  }

  // where a pointer is, in shares of the picture
  at({ clientX, clientY }) {
    const box = this.picture.getBoundingClientRect();
    return [
      clamp((clientX - box.left) / box.width, 0, 1),
      clamp((clientY - box.top) / box.height, 0, 1),
    ];
  }

  down(event) {
    if (event.button !== 0) return;
    const corner = CORNERS[this.corners.indexOf(event.target)];
    this.dragged = false;
    // a finger elsewhere on the picture scrolls the page
    if (!corner && event.pointerType === "touch") return;
    const { clientX, clientY, pointerId } = event;
    this.pressed = { corner, clientX, clientY, pointerId, from: this.at(event), edges: this.edges };
  }

  move(event) {
    const { pressed } = this;
    if (!pressed) return;
    if (!this.dragged) {
      const far = Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY);
      if (far < STILL) return;
      this.dragged = true;
      this.cropping.setPointerCapture(pressed.pointerId);
    }
    const [x, y] = this.at(event);
    const [x0, y0] = pressed.from;
    if (pressed.corner) return this.drag(pressed.corner, x - x0, y - y0, pressed.edges);
    this.edges = [Math.min(x, x0), Math.min(y, y0), Math.max(x, x0), Math.max(y, y0)];
    this.place();
  }

  up(cancelled) {
    const { pressed } = this;
    this.pressed = null;
    if (!pressed || !this.dragged) return;
    const [left, top, right, bottom] = this.edges;
    const tiny = right - left < LEAST || bottom - top < LEAST;
    if (cancelled || tiny) this.edges = pressed.edges;
    else this.choose(this.edges);
    this.place();
  }

  drag(corner, dx, dy, [left, top, right, bottom]) {
    if (corner.includes("left")) left = clamp(left + dx, 0, right - LEAST);
    else right = clamp(right + dx, left + LEAST, 1);
    if (corner.includes("top")) top = clamp(top + dy, 0, bottom - LEAST);
    else bottom = clamp(bottom + dy, top + LEAST, 1);
    this.edges = [left, top, right, bottom];
    this.place();
  }

  choose(edges) {
    this.edges = this.sent = edges.map((edge) => Number(edge.toFixed(4)));
    this.place();
    this.send(same(edges, WHOLE) ? null : this.edges);
  }

  place() {
    const [left, top, right, bottom] = this.edges;
    const { clientWidth: width, clientHeight: height } = this.picture;
    const span = [(right - left) * width, (bottom - top) * height];
    Object.assign(this.frame.style, {
      left: `${100 * left}%`, top: `${100 * top}%`,
      width: `${100 * (right - left)}%`, height: `${100 * (bottom - top)}%`,
    });
    // handles lie inside a large frame, and beyond a small one, where they would cover each other
    const [over, above] = span.map((side) => clamp(HIT - side / 2, 6, 30));
    this.corners.forEach((button, index) => {
      const atLeft = CORNERS[index].includes("left");
      const atTop = CORNERS[index].includes("top");
      button.style.left = `${atLeft ? left * width - over : right * width + over - HIT}px`;
      button.style.top = `${atTop ? top * height - above : bottom * height + above - HIT}px`;
      button.style.setProperty("--x", `${over - 2}px`);
      button.style.setProperty("--y", `${above - 2}px`);
    });
    const whole = same(this.edges, WHOLE);
    this.whole.style.visibility = whole ? "hidden" : "visible";
    [...this.boxes.children].forEach((button, index) => {
      button.ariaPressed = String(!whole && same(this.edges, this.found[index]));
    });
  }
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  if (!croppings.has(parentElement)) croppings.set(parentElement, new Cropping(parentElement));
  croppings.get(parentElement).update(data, (edges) => setTriggerValue("cropped", { edges }));
}
