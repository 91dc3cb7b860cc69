// A figure of cubes that one can turn and build. The projection is that of fgpvae.data.cubes.
import { radians, turned } from "../shared/geometry.js";

const FRAME = 9.4; // cubes that fit into the width
const AMBIENT = 0.2;
const LIGHT = [-0.48, -0.36, 0.8];
const STEPS = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
const MOVED = 5; // pixels: less is a click
const KEYS = 15; // degrees a key turns

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const sum = (a, b) => a.map((value, k) => value + b[k]);
const same = (a, b) => a.every((value, k) => value === b[k]);

// the rows right, up and near of the projection at a yaw
export function axes(w, elevation) {
  const [cos, sin, c, s] = [Math.cos(w), Math.sin(w), Math.cos(elevation), Math.sin(elevation)];
  return [[cos, -sin, 0], [s * sin, s * cos, c], [-c * sin, -c * cos, s]];
}

// The visible faces, the nearest last: corners from 0 to 1, brightness, cube and normal.
export function faces(cubes, w, elevation) {
  if (!cubes.length) return [];
  const [right, up, near] = axes(w, elevation);
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
      const [cos, sin] = [Math.cos(w), Math.sin(w)];
      const there = [cos * normal[0] - sin * normal[1], sin * normal[0] + cos * normal[1], normal[2]];
      found.push({ corners, shade: AMBIENT + Math.max(0, dot(there, LIGHT)), cube, normal });
    }
  }
  return found;
}

// is a point inside a convex polygon?
export function inside([x, y], corners) {
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
  sent = null; // when a change was sent that the server has not answered

  constructor(root) {
    const $ = (name) => root.querySelector(name);
    Object.assign(this, { paper: $("canvas"), count: $(".count"), add: $(".add"), remove: $(".remove") });
    this.paper.addEventListener("pointerdown", (event) => this.down(event));
    this.paper.addEventListener("pointermove", (event) => this.move(event));
    this.paper.addEventListener("pointerup", (event) => this.up(event));
    this.paper.addEventListener("pointercancel", () => (this.held = null));
    this.paper.addEventListener("contextmenu", (event) => event.preventDefault());
    this.paper.addEventListener("keydown", (event) => this.key(event));
    this.paper.addEventListener("pointerleave", () => this.hover(null));
    this.add.addEventListener("click", () => this.mode(false));
    this.remove.addEventListener("click", () => this.mode(true));
    $(".left").addEventListener("click", () => this.turn(KEYS));
    $(".right").addEventListener("click", () => this.turn(-KEYS));
    // for tests: the middles of the faces that can be seen
    root.host.fgpvae = { cubes: () => this.cubes, faces: () => this.faces, angle: () => this.angle };
  }

  update({ cubes, answered, elevation, most }, send) {
    Object.assign(this, { elevation, most, send });
    if (this.sent !== null && answered !== this.sent) return; // of before the change
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

  at({ clientX, clientY }) {
    const box = this.paper.getBoundingClientRect();
    return [(clientX - box.left) / box.width, (clientY - box.top) / box.height];
  }

  // the nearest face under a point
  face(point) {
    return this.faces.findLast((face) => inside(point, face.corners)) ?? null;
  }

  down(event) {
    this.paper.setPointerCapture(event.pointerId);
    this.held = { x: event.clientX, angle: this.angle, moved: false };
  }

  move(event) {
    if (!this.held) return this.hover(this.face(this.at(event)));
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
    const face = this.face(this.at(event));
    if (face) this.act(face, this.removing || event.shiftKey || event.button === 2);
  }

  hover(face) {
    if (this.chosen?.cube === face?.cube && this.chosen?.normal === face?.normal) return;
    this.chosen = face;
    this.paint();
  }

  key(event) {
    const { key } = event;
    const place = this.chosen ? this.faces.findIndex((each) => each.cube === this.chosen.cube && each.normal === this.chosen.normal) : -1;
    const count = this.faces.length;
    if (key === "ArrowLeft") this.turn(KEYS);
    else if (key === "ArrowRight") this.turn(-KEYS);
    else if (key === "ArrowUp" && count) this.hover(this.faces[(place + 1) % count]);
    else if (key === "ArrowDown" && count) this.hover(this.faces[(Math.max(place, 0) - 1 + count) % count]);
    else if ((key === "Enter" || key === " ") && !this.cubes.length) this.change([[0, 0, 0]]);
    else if ((key === "Enter" || key === " ") && this.chosen) this.act(this.chosen, this.removing || event.shiftKey);
    else if ((key === "Delete" || key === "Backspace") && this.chosen) this.act(this.chosen, true);
    else return;
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
    this.send({ cubes, sent: this.sent });
  }

  paint() {
    this.faces = faces(this.cubes, radians(this.angle), this.elevation);
    const { width: side } = this.paper;
    const pen = this.paper.getContext("2d", { alpha: false });
    pen.fillStyle = "#000";
    pen.fillRect(0, 0, side, side);
    for (const face of this.faces) {
      pen.beginPath();
      face.corners.forEach(([x, y], k) => pen[k ? "lineTo" : "moveTo"](x * side, y * side));
      pen.closePath();
      const here = this.chosen && this.chosen.cube === face.cube && this.chosen.normal === face.normal;
      const grey = Math.round(255 * face.shade);
      pen.fillStyle = here ? "#e4572e" : `rgb(${grey} ${grey} ${grey})`;
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

const builders = new WeakMap();

export default function ({ data: [data], parentElement, setTriggerValue }) {
  if (!builders.has(parentElement)) builders.set(parentElement, new Builder(parentElement));
  builders.get(parentElement).update(data, (built) => setTriggerValue("built", built));
}
