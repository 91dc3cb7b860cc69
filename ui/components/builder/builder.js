// A figure of cubes to turn and build. The projection is that of fgpvae.data.cubes.
import { listen, parts } from "../shared/dom.js";
import { radians, turned, within } from "../shared/geometry.js";
import { mount } from "../shared/mount.js";

const FRAME = 9.4; // cubes that fit into the width
const AMBIENT = 0.2;
const LIGHT = [-0.48, -0.36, 0.8];
const STEPS = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
const MOVED = 5; // pixels: less is a click
const KEYS = 15; // degrees a key turns

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const sum = (a, b) => a.map((value, k) => value + b[k]);
const same = (a, b) => a.every((value, k) => value === b[k]);

// The visible faces, the nearest last: corners from 0 to 1, brightness, cube and normal.
function facesOf(cubes, w, elevation) {
  const [cos, sin, c, s] = [Math.cos(w), Math.sin(w), Math.cos(elevation), Math.sin(elevation)];
  const [right, up, near] = [[cos, -sin, 0], [s * sin, s * cos, c], [-c * sin, -c * cos, s]];
  const light = [cos * LIGHT[0] + sin * LIGHT[1], cos * LIGHT[1] - sin * LIGHT[0], LIGHT[2]]; // turned back
  const middle = [0, 1, 2].map((k) => cubes.reduce((total, cube) => total + cube[k], 0) / cubes.length);
  const centred = cubes.map((cube) => ({ cube, at: cube.map((value, k) => value - middle[k]) }));
  centred.sort((a, b) => dot(a.at, near) - dot(b.at, near));
  const found = [];
  for (const { cube, at } of centred) {
    for (const normal of STEPS) {
      if (dot(near, normal) <= 1e-9 || cubes.some((each) => same(each, sum(cube, normal)))) continue;
      const axis = normal.findIndex((value) => value);
      const corners = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]].map(([a, b]) => {
        const corner = [0, 0, 0];
        corner[axis] = normal[axis] / 2;
        corner[(axis + 1) % 3] = a;
        corner[(axis + 2) % 3] = b;
        const point = sum(at, corner);
        return [0.5 + dot(point, right) / FRAME, 0.5 - dot(point, up) / FRAME];
      });
      found.push({ corners, shade: AMBIENT + Math.max(0, dot(normal, light)), cube, normal });
    }
  }
  return found;
}

// is a point inside a convex polygon?
function inside([x, y], corners) {
  const sides = corners.map(([ax, ay], k) => {
    const [bx, by] = corners[(k + 1) % corners.length];
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax);
  });
  return sides.every((side) => side >= 0) || sides.every((side) => side <= 0);
}

class Builder {
  cubes = [];
  angle = 30;
  removing = false;
  chosen = null; // the face that the keyboard is at
  sent = null; // time of a change that the server has not answered

  constructor(root) {
    const { left, right, ...rest } = parts(root, "paper", "count", "add", "remove", "left", "right");
    Object.assign(this, rest);
    listen(this.paper, {
      pointerdown: (event) => this.down(event),
      pointermove: (event) => this.move(event),
      pointerup: (event) => this.up(event),
      pointercancel: () => (this.held = null),
      contextmenu: (event) => event.preventDefault(),
      keydown: (event) => this.key(event),
      pointerleave: () => this.hover(null),
    });
    this.add.addEventListener("click", () => this.mode(false));
    this.remove.addEventListener("click", () => this.mode(true));
    left.addEventListener("click", () => this.turn(KEYS));
    right.addEventListener("click", () => this.turn(-KEYS));
  }

  update({ cubes, answered, elevation, most }, _, trigger) {
    Object.assign(this, { elevation, most, trigger });
    if (this.sent !== null && answered !== this.sent) return; // a run from before the change
    Object.assign(this, { cubes, sent: null, chosen: null });
    this.paint();
  }

  mode(removing) {
    this.removing = removing;
    this.add.ariaPressed = String(!removing);
    this.remove.ariaPressed = String(removing);
  }

  turn(degrees) {
    this.angle = turned(this.angle + degrees);
    this.chosen = null;
    this.paint();
  }

  // the nearest face under a pointer
  face(event) {
    const point = within(event, this.paper);
    return this.faces.findLast((face) => inside(point, face.corners)) ?? null;
  }

  down(event) {
    this.paper.setPointerCapture(event.pointerId);
    this.held = { x: event.clientX, angle: this.angle, moved: false };
  }

  move(event) {
    if (!this.held) return this.hover(this.face(event));
    const far = event.clientX - this.held.x;
    if (Math.abs(far) > MOVED) this.held.moved = true;
    if (!this.held.moved) return;
    this.angle = turned(this.held.angle + (far / this.paper.clientWidth) * 180);
    this.chosen = null;
    this.paint();
  }

  up(event) {
    const click = this.held && !this.held.moved;
    this.held = null;
    if (!click) return;
    if (!this.cubes.length) return this.change([[0, 0, 0]]);
    const face = this.face(event);
    if (face) this.act(face, this.removing || event.shiftKey || event.button === 2);
  }

  hover(face) {
    this.chosen = face ?? null;
    this.paint();
  }

  isChosen({ cube, normal }) {
    return this.chosen?.cube === cube && this.chosen.normal === normal;
  }

  key(event) {
    const [count, place] = [this.faces.length, this.faces.findIndex((each) => this.isChosen(each))];
    const enter = () => {
      if (!this.cubes.length) this.change([[0, 0, 0]]);
      else if (this.chosen) this.act(this.chosen, this.removing || event.shiftKey);
    };
    const remove = () => this.chosen && this.act(this.chosen, true);
    const acts = {
      ArrowLeft: () => this.turn(KEYS),
      ArrowRight: () => this.turn(-KEYS),
      ArrowUp: () => this.hover(this.faces[(place + 1) % count]),
      ArrowDown: () => this.hover(this.faces[(Math.max(place, 0) - 1 + count) % count]),
      Enter: enter,
      " ": enter,
      Delete: remove,
      Backspace: remove,
    };
    if (!(event.key in acts)) return;
    acts[event.key]();
    event.preventDefault();
  }

  act({ cube, normal }, removing) {
    this.change(removing ? this.cubes.filter((each) => !same(each, cube)) : [...this.cubes, sum(cube, normal)]);
  }

  change(cubes) {
    this.cubes = cubes;
    this.chosen = null;
    this.paint();
    this.sent = performance.now();
    this.trigger("built", { cubes, sent: this.sent });
  }

  paint() {
    this.faces = facesOf(this.cubes, radians(this.angle), this.elevation);
    const { width: side } = this.paper;
    const pen = this.paper.getContext("2d", { alpha: false });
    pen.fillStyle = "#000";
    pen.fillRect(0, 0, side, side);
    for (const face of this.faces) {
      pen.beginPath();
      face.corners.forEach(([x, y], k) => pen[k ? "lineTo" : "moveTo"](x * side, y * side));
      pen.closePath();
      const grey = Math.round(255 * face.shade);
      pen.fillStyle = this.isChosen(face) ? "#e4572e" : `rgb(${grey} ${grey} ${grey})`;
      Object.assign(pen, { strokeStyle: "#000", lineWidth: 2, lineJoin: "round" });
      pen.fill();
      pen.stroke();
    }
    if (!this.cubes.length) {
      Object.assign(pen, { fillStyle: "#ccc", font: "26px system-ui, sans-serif", textAlign: "center" });
      pen.fillText("Click to put the first cube.", side / 2, side / 2);
    }
    this.count.textContent = `${this.cubes.length} of ${this.most} cubes`;
    this.paper.ariaLabel = `The figure from ${Math.round(this.angle)} degrees, ${this.cubes.length} cubes`;
  }
}

export default mount((root) => new Builder(root));
