// A picture to cut a digit out of: found boxes can be chosen, corners dragged, a frame drawn anew.
// Edges are left, top, right and bottom in shares of the picture.
import { element, listen, mount, onDrag, parts } from "../shared/dom.js";
import { ARROWS, clamp, within } from "../shared/maths.js";

const WHOLE = [0, 0, 1, 1];
const LEAST = 0.03; // side of a frame
const CORNERS = ["left top", "right top", "left bottom", "right bottom"];
const same = (a, b) => a.every((edge, k) => Math.abs(edge - b[k]) < 0.002);

// crop.css places an element by these
function put({ style }, edges) {
  ["--left", "--top", "--right", "--bottom"].forEach((name, k) => style.setProperty(name, edges[k]));
}

class Cropping {
  edges = WHOLE;

  constructor(root) {
    Object.assign(this, parts(root, "cropping", "picture", "boxes", "handles", "hint", "whole"));
    this.corners = CORNERS.map((name) => this.handle(name));
    this.handles.append(...this.corners);
    onDrag(this.cropping, (event) => this.press(event));
    this.whole.addEventListener("click", () => this.choose(WHOLE));
  }

  update(data, stale) {
    const other = this.picture.getAttribute("src") !== data.image;
    if (other) this.picture.src = data.image;
    this.picture.alt = data.label;
    this.hint.textContent = data.hint;
    this.found = data.boxes;
    this.boxes.replaceChildren(...data.boxes.map((box, index) => this.box(box, index + 1)));
    this.show(other || !(stale || this.cropping.matches(".dragged")) ? data.crop ?? WHOLE : this.edges);
  }

  box(box, number) {
    const label = element("span", { className: "badge" }, number);
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
        this.move(name, x, y, this.edges);
      },
      keyup: (event) => event.key in ARROWS && this.choose(this.edges),
    });
    return button;
  }

  press(event) {
    const at = (each) => within(each, this.picture).map((place) => clamp(place, 0, 1));
    const [[x0, y0], before] = [at(event), this.edges];
    const corner = CORNERS[this.corners.indexOf(event.target)];
    const box = this.found[[...this.boxes.children].indexOf(event.target.closest(".box"))];
    this.dragged = false;
    // elsewhere on the picture a touch scrolls the page
    if (event.button !== 0 || (!corner && event.pointerType === "touch")) return null;
    return {
      move: (now) => {
        const [x, y] = at(now);
        if (corner) this.move(corner, x - x0, y - y0, before);
        else this.show([Math.min(x, x0), Math.min(y, y0), Math.max(x, x0), Math.max(y, y0)]);
      },
      end: (moved, cancelled) => {
        this.dragged = moved;
        const [left, top, right, bottom] = this.edges;
        if (cancelled || Math.min(right - left, bottom - top) < LEAST) this.show(before);
        else if (moved) this.choose(this.edges);
        else if (box) this.choose(box); // the pointer is captured, so that the box gets no click
      },
    };
  }

  move(corner, dx, dy, [left, top, right, bottom]) {
    if (corner.includes("left")) left = clamp(left + dx, 0, right - LEAST);
    else right = clamp(right + dx, left + LEAST, 1);
    if (corner.includes("top")) top = clamp(top + dy, 0, bottom - LEAST);
    else bottom = clamp(bottom + dy, top + LEAST, 1);
    this.show([left, top, right, bottom]);
  }

  choose(edges) {
    this.show(edges.map((edge) => Number(edge.toFixed(4))));
    this.trigger("cropped", { edges: same(edges, WHOLE) ? null : this.edges });
  }

  show(edges) {
    this.edges = edges;
    put(this.cropping, edges);
    const whole = same(edges, WHOLE);
    this.whole.style.visibility = whole ? "hidden" : "visible";
    [...this.boxes.children].forEach((button, index) => {
      button.ariaPressed = String(!whole && same(edges, this.found[index]));
    });
  }
}

export default mount(Cropping);
