// Views of digits as points that one can click, the views of a digit joined by a line.
const NEAR = 18; // pixels from the pointer to a point that it means
const PAD = 26;
const WAIT = 350; // milliseconds after the last key until the page follows
const shown = new WeakMap();

class Space {
  constructor(loops) {
    this.loops = loops;
    const make = (name, className) => Object.assign(document.createElement(name), { className });
    this.card = make("section", "card");
    this.title = make("h3", "");
    this.sentence = make("p", "");
    this.stage = make("div", "stage");
    this.canvas = make("canvas", "");
    this.tip = make("div", "tip");
    this.foot = make("p", "");
    this.foot.title = "Principal components: the directions in which the points differ most";
    this.tip.hidden = true;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.stage.append(this.canvas, this.tip);
    this.card.append(this.title, this.sentence, this.stage, this.foot);
    this.turn = { across: 0.8, up: 0.45 };
    this.listen();
    this.sizes = new ResizeObserver(() => this.paint());
    this.sizes.observe(this.stage);
  }

  update(data) {
    this.data = data;
    this.reach = null;
    for (const name of ["title", "sentence", "foot"]) this[name].textContent = data[name];
    this.card.classList.toggle("turns", this.loops.spatial);
    this.paint();
  }

  listen() {
    const { canvas } = this;
    const at = ({ clientX, clientY }) => {
      const box = canvas.getBoundingClientRect();
      return this.nearest(clientX - box.left, clientY - box.top);
    };
    canvas.addEventListener("pointerdown", (event) => {
      this.moved = 0;
      if (this.loops.spatial) canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.loops.spatial && canvas.hasPointerCapture(event.pointerId)) {
        this.moved += Math.abs(event.movementX) + Math.abs(event.movementY);
        this.turn.across += event.movementX * 0.008;
        this.turn.up = Math.min(1.5, Math.max(-1.5, this.turn.up + event.movementY * 0.008));
        return this.paint();
      }
      this.loops.hover(at(event), this);
    });
    canvas.addEventListener("pointerleave", () => this.loops.hover(null, this));
    canvas.addEventListener("click", (event) => {
      const found = this.moved > 4 ? null : (this.loops.hovered ?? at(event));
      if (found) this.loops.choose(found, this);
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
      const move = step[event.key];
      if (!move) return;
      event.preventDefault();
      if (event.shiftKey && this.loops.spatial) {
        this.turn.across += 0.1 * move[1];
        this.turn.up = Math.min(1.5, Math.max(-1.5, this.turn.up + 0.1 * move[0]));
        return this.paint();
      }
      this.loops.step(...move);
    });
  }

  // Where the points are on the screen, [x, y, depth] each
  place() {
    const { width, height } = this.stage.getBoundingClientRect();
    const { points } = this.data;
    const flat = new Float32Array((points.length / this.loops.dimensions) * 3);
    if (!this.loops.spatial) {
      for (let i = 0, k = 0; i < points.length; i += 2, k += 3) {
        flat[k] = points[i];
        flat[k + 1] = -points[i + 1];
      }
    } else {
      const [c, s] = [Math.cos(this.turn.across), Math.sin(this.turn.across)];
      const [C, S] = [Math.cos(this.turn.up), Math.sin(this.turn.up)];
      for (let i = 0; i < points.length; i += 3) {
        const [x, y, z] = [points[i], points[i + 1], points[i + 2]];
        const deep = -s * x + c * y;
        flat[i] = c * x + s * y;
        flat[i + 1] = S * deep - C * z;
        flat[i + 2] = C * deep + S * z;
      }
    }
    const reach = [1, 1];
    for (let k = 0; k < flat.length; k += 3) {
      reach[0] = Math.max(reach[0], Math.abs(flat[k]));
      reach[1] = Math.max(reach[1], Math.abs(flat[k + 1]));
    }
    // a turning space keeps its size
    if (this.loops.spatial) reach[0] = reach[1] = this.reach ??= radius(points);
    const unit = Math.min((width / 2 - PAD) / reach[0], (height / 2 - PAD) / reach[1]);
    for (let k = 0; k < flat.length; k += 3) {
      flat[k] = width / 2 + unit * flat[k];
      flat[k + 1] = height / 2 + unit * flat[k + 1];
    }
    this.flat = flat;
  }

  nearest(x, y) {
    const { flat } = this;
    let best = null;
    let least = NEAR ** 2;
    for (let k = 0; k < (flat?.length ?? 0); k += 3) {
      const far = (flat[k] - x) ** 2 + (flat[k + 1] - y) ** 2;
      if (far < least) [best, least] = [k / 3, far];
    }
    if (best === null) return null;
    const { Q } = this.loops;
    return { digit: Math.floor(best / Q), view: this.data.still ? null : best % Q };
  }

  paint() {
    const { width, height } = this.stage.getBoundingClientRect();
    if (!width || !this.data) return;
    this.place();
    const scale = devicePixelRatio || 1;
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    const c = this.canvas.getContext("2d");
    c.scale(scale, scale);
    const { color: ink, fontFamily } = getComputedStyle(this.stage);
    const { flat, data, loops } = this;
    const { Q, spatial } = loops;
    const [digit, view] = loops.standing();
    const path = (p) => {
      for (let q = 0; q < Q; q++) {
        const k = 3 * (p * Q + q);
        if (q) c.lineTo(flat[k], flat[k + 1]);
        else c.moveTo(flat[k], flat[k + 1]);
      }
      if (loops.closed) c.closePath();
    };
    this.axes(c, ink, fontFamily, width, height);
    c.strokeStyle = ink;
    c.lineWidth = 1;
    c.globalAlpha = 0.13;
    c.beginPath();
    for (let p = 0; p < flat.length / 3 / Q; p++) path(p);
    c.stroke();

    const order = Array.from({ length: flat.length / 3 }, (_, k) => k);
    if (spatial) order.sort((a, b) => flat[3 * b + 2] - flat[3 * a + 2]);
    for (const k of order) {
      const near = spatial ? 0.5 - flat[3 * k + 2] / (2 * this.reach) : 1;
      c.globalAlpha = spatial ? 0.3 + 0.5 * near : 0.6;
      disc(c, flat, k, spatial ? 2 + 2 * near : 3.5, data.palette[data.colours[k]]);
    }
    c.globalAlpha = 1;
    c.lineWidth = 1.6;
    c.beginPath();
    path(digit);
    c.stroke();
    for (let q = 0; q < Q; q++) {
      const k = digit * Q + q;
      disc(c, flat, k, 5, data.palette[data.colours[k]], ink, 1);
    }
    const here = digit * Q + view;
    disc(c, flat, here, 9, data.palette[data.colours[here]], ink, 2.5);
    const label = `${data.title}: ${loops.words(digit, data.still ? null : view)} stands out`;
    this.canvas.setAttribute("aria-label", `${label}. Arrow keys choose another view or digit.`);
    this.stage.dataset.drawn = "yes";
  }

  axes(c, ink, font, width, height) {
    Object.assign(c, { font: `12px ${font}`, fillStyle: ink, strokeStyle: ink, globalAlpha: 0.62 });
    c.textBaseline = "alphabetic";
    const { axes } = this.data;
    if (!this.loops.spatial) {
      c.textAlign = "center";
      c.fillText(`${axes[0]} →`, width / 2, height - 5);
      c.save();
      c.translate(12, height / 2);
      c.rotate(-Math.PI / 2);
      c.fillText(`${axes[1]} →`, 0, 0);
      c.restore();
      return;
    }
    // a small cross that turns along, and the shares beside it
    const [a, e] = [this.turn.across, this.turn.up];
    const ends = [
      [Math.cos(a), -Math.sin(a) * Math.sin(e)], [Math.sin(a), Math.cos(a) * Math.sin(e)],
      [0, -Math.cos(e)],
    ];
    c.textAlign = "center";
    ends.forEach(([x, y], k) => {
      c.beginPath();
      c.moveTo(34, height - 40);
      c.lineTo(34 + 20 * x, height - 40 + 20 * y);
      c.stroke();
      c.fillText(String(k + 1), 34 + 28 * x, height - 36 + 28 * y);
    });
    c.textAlign = "right";
    c.fillText(axes.join("   "), width - 4, height - 5);
  }

  close() {
    this.sizes.disconnect();
    this.card.remove();
  }

  tell(found) {
    this.tip.hidden = !found;
    if (!found) return;
    this.tip.textContent = this.loops.words(found.digit, found.view);
    const k = 3 * (found.digit * this.loops.Q + (found.view ?? 0));
    const { offsetWidth, offsetHeight } = this.tip;
    const room = this.stage.clientWidth - offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(this.flat[k] - offsetWidth / 2, room))}px`;
    const above = this.flat[k + 1] - offsetHeight - 14;
    this.tip.style.top = `${above < 0 ? this.flat[k + 1] + 16 : above}px`;
  }
}

function radius(points) {
  let most = 1;
  for (let i = 0; i < points.length; i += 3) {
    most = Math.max(most, Math.hypot(points[i], points[i + 1], points[i + 2]));
  }
  return most;
}

function disc(c, flat, k, size, colour, edge, width) {
  c.beginPath();
  c.arc(flat[3 * k], flat[3 * k + 1], size, 0, 2 * Math.PI);
  c.fillStyle = colour;
  c.fill();
  if (!edge) return;
  c.lineWidth = width;
  c.stroke();
}

class Loops {
  constructor(box) {
    this.box = box;
    this.spaces = [];
    this.hovered = null;
    // for tests: where a point is in a space, in pixels of the page
    box.getRootNode().host.loops = {
      at: (space, digit, view) => {
        const { canvas, flat } = this.spaces[space];
        const { left, top } = canvas.getBoundingClientRect();
        const k = 3 * (digit * this.Q + view);
        return { x: left + flat[k], y: top + flat[k + 1] };
      },
      standing: () => this.standing(),
    };
  }

  update(data) {
    const text = JSON.stringify(data);
    if (text === this.text) return this.paint(); // the theme may have changed
    const { spaces, chosen, names, views, spatial, closed } = data;
    Object.assign(this, { text, names, views, spatial, closed, dimensions: spatial ? 3 : 2 });
    this.Q = views.length;
    if (!this.waiting) this.last = [...chosen];
    while (this.spaces.length > spaces.length) this.spaces.pop().close();
    while (this.spaces.length < spaces.length) {
      this.spaces.push(new Space(this));
      this.box.append(this.spaces.at(-1).card);
    }
    this.spaces.forEach((space, k) => space.update(spaces[k]));
  }

  words(digit, view) {
    return `${this.names[digit]}, ${view === null ? (this.closed ? "at every angle" : "everywhere") : `at ${this.views[view]}`}`;
  }

  standing() {
    const [digit, view] = this.last;
    return this.hovered ? [this.hovered.digit, this.hovered.view ?? view] : [digit, view];
  }

  hover(found, where) {
    const same = found?.digit === this.hovered?.digit && found?.view === this.hovered?.view;
    for (const space of this.spaces) space.tell(space === where ? found : null);
    if (same) return;
    this.hovered = found;
    this.paint();
  }

  choose({ digit, view }) {
    this.last = [digit, view ?? this.last[1]];
    this.paint();
    this.send({ digit, view });
  }

  step(digits, views) {
    const [digit, view] = this.last;
    const P = this.names.length;
    this.hovered = null;
    this.last = [(digit + digits + P) % P, (view + views + this.Q) % this.Q];
    this.paint();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.send({ digit: this.last[0], view: this.last[1] });
    }, WAIT);
  }

  paint() {
    for (const space of this.spaces) space.paint();
  }

  close() {
    clearTimeout(this.waiting);
    for (const space of this.spaces) space.close();
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  const loops = shown.get(parentElement) ?? new Loops(parentElement.querySelector(".spaces"));
  shown.set(parentElement, loops);
  loops.send = (picked) => setTriggerValue("picked", picked);
  loops.update(data);
  return () => {
    loops.close();
    shown.delete(parentElement);
  };
}
