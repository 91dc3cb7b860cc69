// A picture to cut a digit out of: found boxes can be chosen, corners dragged, a frame drawn anew.
// Edges are left, top, right and bottom in shares of the picture.
import { element, listen, parts } from "../shared/dom.js";
import { clamp, within } from "../shared/geometry.js";
import { mount } from "../shared/mount.js";

const WHOLE = [0, 0, 1, 1];
const LEAST = 0.03; // side of a frame
const STILL = 5; // pixels; a smaller movement is a click
const HIT = 44; // pixels of a handle
const CORNERS = ["left top", "right top", "left bottom", "right bottom"];
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const same = (a, b) => a.every((edge, k) => Math.abs(edge - b[k]) < 0.002);

function put({ style }, [left, top, right, bottom]) {
  const [width, height] = [right - left, bottom - top];
  for (const [name, share] of Object.entries({ left, top, width, height })) style[name] = `${100 * share}%`;
}

class Cropping {
  edges = WHOLE;
  sent = null; // change that the server has not answered

  constructor(root) {
    Object.assign(this, parts(root, "cropping", "picture", "frame", "boxes", "handles", "hint", "whole"));
    this.corners = CORNERS.map((name) => this.handle(name));
    this.handles.append(...this.corners);
    listen(this.cropping, {
      pointerdown: (event) => this.down(event),
      pointermove: (event) => this.move(event),
      pointerup: () => this.up(false),
      pointercancel: () => this.up(true),
    });
    this.whole.addEventListener("click", () => this.choose(WHOLE));
    new ResizeObserver(() => this.place()).observe(this.picture);
  }

  update(data, _, trigger) {
    this.send = (edges) => trigger("cropped", { edges });
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
    this.boxes.replaceChildren(...data.boxes.map((box, index) => this.box(box, index + 1)));
    this.place();
  }

  box(box, number) {
    const label = element("span", { className: "number" }, number);
    const button = element("button", { type: "button", className: "box", ariaLabel: `Digit ${number}` }, label);
    put(button, box);
    button.addEventListener("click", () => this.dragged || this.choose(box));
    return button;
  }

  handle(name) {
    const button = element("button", { type: "button", className: `handle ${name}`, ariaLabel: `Corner ${name}` });
    listen(button, {
      keydown: (event) => {
        if (!(event.key in ARROWS)) return;
        event.preventDefault();
        const [x, y] = ARROWS[event.key].map((step) => step * (event.shiftKey ? 0.05 : 0.01));
        this.drag(name, x, y, this.edges);
      },
      keyup: (event) => event.key in ARROWS && this.choose(this.edges),
    });
    return button;
  }

  // where a pointer is, in shares of the picture
  at(event) {
    return within(event, this.picture).map((place) => clamp(place, 0, 1));
  }

  down(event) {
    if (event.button !== 0) return;
    const corner = CORNERS[this.corners.indexOf(event.target)];
    this.dragged = false;
    // elsewhere on the picture a touch scrolls the page
    if (!corner && event.pointerType === "touch") return;
    const { clientX, clientY } = event;
    this.pressed = { corner, clientX, clientY, from: this.at(event), edges: this.edges };
  }

  move(event) {
    const { pressed } = this;
    if (!pressed) return;
    const far = Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY);
    if (!this.dragged && far < STILL) return;
    if (!this.dragged) this.cropping.setPointerCapture(event.pointerId);
    this.dragged = true;
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
    put(this.frame, this.edges);
    // handles lie inside a large frame and outside a small one, where they would overlap
    const [over, above] = [(right - left) * width, (bottom - top) * height].map((side) => clamp(HIT - side / 2, 6, 30));
    this.corners.forEach(({ style }, index) => {
      const [atLeft, atTop] = [CORNERS[index].includes("left"), CORNERS[index].includes("top")];
      style.left = `${atLeft ? left * width - over : right * width + over - HIT}px`;
      style.top = `${atTop ? top * height - above : bottom * height + above - HIT}px`;
      style.setProperty("--x", `${over - 2}px`);
      style.setProperty("--y", `${above - 2}px`);
    });
    const whole = same(this.edges, WHOLE);
    this.whole.style.visibility = whole ? "hidden" : "visible";
    [...this.boxes.children].forEach((button, index) => {
      button.ariaPressed = String(!whole && same(this.edges, this.found[index]));
    });
  }
}

export default mount((root) => new Cropping(root));
