// A figure of cubes to turn and build. The projection is that of fgpvae.data.cubes.
import { listen, mount, onDrag, parts, svg } from "../shared/dom.js";
import { radians, turned } from "../shared/maths.js";

const FRAME = 9.4; // cubes that fit into the width
const AMBIENT = 0.2;
const LIGHT = [-0.48, -0.36, 0.8];
const STEPS = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];
const KEYS = 15; // degrees a key turns

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const sum = (a, b) => a.map((value, k) => value + b[k]);
const same = (a, b) => a.every((value, k) => value === b[k]);

// The visible faces, the nearest last: a polygon in percent of the paper, cube and normal.
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
        return [50 + (100 * dot(point, right)) / FRAME, 50 - (100 * dot(point, up)) / FRAME];
      });
      const grey = Math.round(255 * (AMBIENT + Math.max(0, dot(normal, light))));
      const polygon = svg("polygon", { points: corners.join(" "), fill: `rgb(${grey} ${grey} ${grey})` });
      found.push({ polygon, cube, normal });
    }
  }
  return found;
}

class Builder {
  cubes = [];
  angle = 30;

  constructor(root) {
    Object.assign(this, parts(root, "paper", "count", "add", "remove", "first"));
    const { left, right } = parts(root, "left", "right");
    onDrag(this.paper, (event) => this.press(event));
    listen(this.paper, {
      contextmenu: (event) => event.preventDefault(),
      keydown: (event) => this.key(event),
      pointerover: ({ target }) => this.choose(this.faces.find(({ polygon }) => polygon === target)),
      pointerleave: () => this.choose(),
    });
    this.add.addEventListener("click", () => this.mode(false));
    this.remove.addEventListener("click", () => this.mode(true));
    left.addEventListener("click", () => this.turn(KEYS));
    right.addEventListener("click", () => this.turn(-KEYS));
  }

  update({ cubes, elevation, most }, stale) {
    Object.assign(this, { elevation, most });
    if (!stale) this.cubes = cubes;
    this.paint();
  }

  mode(removing) {
    this.removing = removing;
    this.add.ariaPressed = String(!removing);
    this.remove.ariaPressed = String(removing);
  }

  turn(degrees) {
    this.angle = turned(this.angle + degrees);
    this.paint();
  }

  press(event) {
    const face = this.faces.find(({ polygon }) => polygon === event.target);
    const removing = this.removing || event.shiftKey || event.button === 2;
    let from = event.clientX;
    return {
      move: ({ clientX }) => {
        this.turn(((clientX - from) / this.paper.clientWidth) * 180);
        from = clientX;
      },
      end: (moved, cancelled) => moved || cancelled || this.act(face, removing),
    };
  }

  // highlight the face at which the pointer or the keyboard is
  choose(face) {
    this.chosen = face;
    for (const each of this.faces) each.polygon.classList.toggle("chosen", each === face);
  }

  key(event) {
    const [count, place] = [this.faces.length, this.faces.indexOf(this.chosen)];
    const enter = () => this.act(this.chosen, this.removing || event.shiftKey);
    const remove = () => this.chosen && this.act(this.chosen, true);
    const acts = {
      ArrowLeft: () => this.turn(KEYS),
      ArrowRight: () => this.turn(-KEYS),
      ArrowUp: () => this.choose(this.faces[(place + 1) % count]),
      ArrowDown: () => this.choose(this.faces[(Math.max(place, 0) - 1 + count) % count]),
      Enter: enter,
      " ": enter,
      Delete: remove,
      Backspace: remove,
    };
    if (!(event.key in acts)) return;
    acts[event.key]();
    event.preventDefault();
  }

  // remove the cube of a face, or put one on it; the first one needs no face
  act(face, removing) {
    const { cubes } = this;
    if (cubes.length && !face) return;
    if (!cubes.length) this.cubes = [[0, 0, 0]];
    else if (removing) this.cubes = cubes.filter((each) => !same(each, face.cube));
    else this.cubes = [...cubes, sum(face.cube, face.normal)];
    this.paint();
    this.trigger("built", { cubes: this.cubes });
  }

  paint() {
    this.chosen = undefined;
    this.faces = facesOf(this.cubes, radians(this.angle), this.elevation);
    this.paper.replaceChildren(...this.faces.map(({ polygon }) => polygon));
    this.first.hidden = this.cubes.length > 0;
    this.count.textContent = `${this.cubes.length} of ${this.most} cubes`;
    this.paper.ariaLabel = `The figure from ${Math.round(this.angle)} degrees, ${this.cubes.length} cubes`;
  }
}

export default mount(Builder);
