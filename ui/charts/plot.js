// A chart in SVG. Everything arrives in data units (ui/plot.py); here it is scaled and drawn.
const SPACE = "http://www.w3.org/2000/svg";
const NEAR = 28; // pixels from the pointer to what it asks about
const GRID = 0.13; // opacity of lines that only help the eye
const QUIET = 0.72; // and of words
const ruler = document.createElement("canvas").getContext("2d");
ruler.font = "12px system-ui, sans-serif";
const wide = (texts) => Math.max(0, ...texts.map((text) => ruler.measureText(text).width));

function add(parent, name, attributes, text) {
  const node = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) node.setAttribute(key, value);
  }
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}

function scale({ low, high, log }, from, to) {
  const grow = log ? Math.log : (value) => value;
  const [a, b] = [grow(low), grow(high)];
  return (value) => from + ((grow(value) - a) / (b - a)) * (to - from);
}

class Plot {
  constructor(box) {
    this.box = box;
    this.tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
    this.tip.setAttribute("role", "status");
    this.save = Object.assign(document.createElement("button"), {
      className: "save", textContent: "PNG", type: "button", title: "Save this figure as a picture",
    });
    this.save.addEventListener("click", () => this.download());
    this.sizes = new ResizeObserver(() => this.width !== box.clientWidth && this.draw());
    this.sizes.observe(box);
  }

  update(data) {
    const received = JSON.stringify(data);
    if (received === this.received) return;
    Object.assign(this, { received, data });
    this.box.style.height = `${data.height}px`;
    this.draw();
  }

  draw() {
    const { box, data } = this;
    this.width = box.clientWidth;
    if (!this.width || !data) return;
    const { x, y, marks, height, square } = data;
    const left = wide(y.ticks.map(([, text]) => text)) + 10 + (y.title ? 20 : 0);
    const area = {
      left: Math.max(left, 6), right: this.width - data.right, top: data.top,
      bottom: height - (x.ticks.length ? 22 : 6) - (x.title ? 20 : 0),
    };
    if (square) {
      const side = Math.min(area.right - area.left, area.bottom - area.top);
      const off = (area.right - area.left - side) / 2;
      Object.assign(area, { left: area.left + off, right: area.left + off + side });
      area.bottom = area.top + side;
    }
    Object.assign(this, {
      area, tips: [], cell: null, X: scale(x, area.left, area.right), Y: scale(y, area.bottom, area.top),
    });
    this.svg = document.createElementNS(SPACE, "svg");
    for (const [key, value] of Object.entries({
      viewBox: `0 0 ${this.width} ${height}`, height, role: "img", tabindex: 0,
      "aria-label": data.label,
    })) this.svg.setAttribute(key, value);
    this.axes();
    const clip = add(this.svg, "clipPath", { id: "inside" });
    const reach = 8; // a dot on the edge stays whole
    add(clip, "rect", {
      x: area.left - reach, y: area.top - reach, width: area.right - area.left + 2 * reach,
      height: area.bottom - area.top + 2 * reach,
    });
    const inside = add(this.svg, "g", { "clip-path": "url(#inside)" });
    for (const mark of marks) this[mark.kind](mark.kind === "text" ? this.svg : inside, mark);
    this.listen();
    box.replaceChildren(this.svg, this.tip, ...(data.file ? [this.save] : []));
    if (data.file) this.save.setAttribute("aria-label", `Save as PNG: ${data.label}`);
    this.tip.hidden = true;
    box.dataset.drawn = "yes";
  }

  axes() {
    const { svg, area, data: { x, y, height } } = this;
    const word = (at, anchor, text) =>
      add(svg, "text", { ...at, "text-anchor": anchor, fill: "currentColor", opacity: QUIET }, text);
    for (const [value, text] of y.ticks) {
      const at = this.Y(value);
      add(svg, "line", {
        x1: area.left, x2: area.right, y1: at, y2: at, stroke: "currentColor", opacity: GRID,
      });
      word({ x: area.left - 8, y: at + 4 }, "end", text);
    }
    let last = -Infinity;
    for (const [value, text] of x.ticks) {
      const at = this.X(value);
      const half = wide([text]) / 2;
      if (at - half < last + 6) continue; // no room for its number
      last = at + half;
      add(svg, "line", {
        x1: at, x2: at, y1: area.top, y2: area.bottom, stroke: "currentColor", opacity: GRID / 2,
      });
      word({ x: Math.min(at, this.width - half), y: area.bottom + 17 }, "middle", text);
    }
    if (x.title) word({ x: (area.left + area.right) / 2, y: height - 5 }, "middle", x.title);
    if (y.title) {
      const middle = (area.top + area.bottom) / 2;
      word({ transform: `translate(12 ${middle}) rotate(-90)` }, "middle", y.title);
    }
  }

  // --- marks ---

  line(parent, { x, y, colour, width = 2, dash, alpha = 1, fill, tips }) {
    let path = "";
    let pen = "M";
    x.forEach((value, i) => {
      if (value === null || y[i] === null) return (pen = "M");
      path += `${pen}${this.X(value).toFixed(1)} ${this.Y(y[i]).toFixed(1)}`;
      pen = "L";
    });
    if (fill) {
      const [first, last] = [x[0], x.at(-1)].map((value) => this.X(value).toFixed(1));
      const d = `${path}L${last} ${this.area.bottom}L${first} ${this.area.bottom}Z`;
      add(parent, "path", { d, fill: colour, opacity: fill });
    }
    add(parent, "path", {
      d: path, fill: "none", stroke: colour, "stroke-width": width, "stroke-dasharray": dash,
      "stroke-linejoin": "round", opacity: alpha,
    });
    this.ask(x, y, tips);
  }

  band(parent, { x, low, high, colour, alpha }) {
    const corner = (values) => (value, i) => `${this.X(value).toFixed(1)},${this.Y(values[i]).toFixed(1)}`;
    const points = [...x.map(corner(high)), ...x.map(corner(low)).reverse()].join(" ");
    add(parent, "polygon", { points, fill: colour, opacity: alpha });
  }

  dots(parent, { x, y, colour, size = 8, shape, hollow, outline, alpha = 1, xbar, ybar, tips }) {
    x.forEach((value, i) => {
      if (value === null || y[i] === null) return;
      const [px, py, r] = [this.X(value), this.Y(y[i]), size / 2];
      const group = add(parent, "g", { opacity: alpha });
      const stroke = { stroke: colour, "stroke-width": 1.8, fill: "none" };
      if (xbar?.[i]) {
        const [a, b] = [this.X(value - xbar[i]), this.X(value + xbar[i])];
        add(group, "path", { d: `M${a} ${py}H${b}M${a} ${py - 4}v8M${b} ${py - 4}v8`, ...stroke });
      }
      if (ybar?.[i]) {
        const [a, b] = [this.Y(y[i] - ybar[i]), this.Y(y[i] + ybar[i])];
        add(group, "path", { d: `M${px} ${a}V${b}M${px - 3} ${a}h6M${px - 3} ${b}h6`, ...stroke });
      }
      const look = hollow
        ? { fill: "var(--card)", stroke: colour, "stroke-width": 2 }
        : { fill: colour, stroke: outline, "stroke-width": outline && 2 };
      if (shape === "diamond") {
        const d = `M${px} ${py - r}L${px + r} ${py}L${px} ${py + r}L${px - r} ${py}Z`;
        add(group, "path", { d, ...look });
      } else add(group, "circle", { cx: px, cy: py, r, ...look });
    });
    this.ask(x, y, tips);
  }

  rule(parent, { at: [x, y], colour, width = 1.4, dash }) {
    const { left, right, top, bottom } = this.area;
    const ends = x === null
      ? { x1: left, x2: right, y1: this.Y(y), y2: this.Y(y) }
      : { x1: this.X(x), x2: this.X(x), y1: top, y2: bottom };
    add(parent, "line", { ...ends, stroke: colour, "stroke-width": width, "stroke-dasharray": dash });
  }

  text(parent, { text, at: [x, y], colour, size = 12, anchor = "start", dx = 0, dy = 0, angle, raised }) {
    const px = (x === "end" ? this.area.right : this.X(x)) + dx;
    const py = (y === "top" ? this.area.top : this.Y(y)) + dy;
    const transform = `translate(${px} ${py})${angle ? ` rotate(${angle})` : ""}`;
    // lines pass behind words, not through them
    const halo = { stroke: "var(--card)", "stroke-width": 4, "paint-order": "stroke" };
    const look = { "text-anchor": anchor, "font-size": size, fill: colour, ...halo };
    const node = add(parent, "text", { transform, "dominant-baseline": "middle", ...look }, text);
    if (raised) add(node, "tspan", { dy: -5, "font-size": 0.8 * size }, raised);
  }

  cells(parent, { values, names, colour }) {
    const n = values.length;
    const canvas = Object.assign(document.createElement("canvas"), { width: n, height: n });
    const pen = canvas.getContext("2d");
    pen.fillStyle = "#fff";
    values.forEach((row, i) =>
      row.forEach((value, j) => {
        pen.globalAlpha = 0.04 + 0.96 * value;
        pen.fillRect(j, i, 1, 1);
      }));
    const [left, right, top, bottom] = [
      this.X(-0.5), this.X(n - 0.5), this.Y(n - 0.5), this.Y(-0.5),
    ].map(Math.round);
    const high = Math.min(top, bottom);
    // a mask, so that ink is that of the theme, also after a change of it
    const place = { x: left, y: high, width: right - left, height: Math.abs(bottom - top) };
    const mask = add(parent, "mask", { id: "cells", maskUnits: "userSpaceOnUse", ...place });
    const pixelated = { preserveAspectRatio: "none", style: "image-rendering: pixelated" };
    add(mask, "image", { href: canvas.toDataURL(), ...place, ...pixelated });
    add(parent, "rect", { ...place, fill: colour, mask: "url(#cells)" });
    this.cell = (px, py) => {
      const j = Math.floor(((px - left) / (right - left)) * n);
      const i = Math.floor(((py - high) / Math.abs(bottom - top)) * n);
      if (i < 0 || j < 0 || i >= n || j >= n) return null;
      return { x: px, y: py, text: `${names[j]} and ${names[i]}: ${values[i][j].toFixed(2)}` };
    };
  }

  // --- what the pointer and the arrow keys ask ---

  ask(x, y, tips) {
    tips?.forEach((text, i) => {
      if (x[i] === null || y[i] === null || !text) return;
      this.tips.push({ x: this.X(x[i]), y: this.Y(y[i]), text });
    });
  }

  listen() {
    const { svg } = this;
    const hide = () => (this.tip.hidden = true);
    const look = ({ clientX, clientY }) => {
      const box = svg.getBoundingClientRect();
      const [px, py] = [clientX - box.left, clientY - box.top];
      this.tell(this.cell ? this.cell(px, py) : this.nearest(px, py));
    };
    svg.addEventListener("pointermove", look);
    svg.addEventListener("pointerdown", look);
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step || !this.tips.length) return;
      event.preventDefault();
      const count = this.tips.length;
      this.at = (((this.at ?? (step > 0 ? -1 : 0)) + step) % count + count) % count;
      this.tell(this.tips[this.at]);
    });
  }

  nearest(px, py) {
    let best = null;
    let least = NEAR ** 2;
    for (const each of this.tips) {
      const far = (each.x - px) ** 2 + (each.y - py) ** 2;
      if (far <= least) [best, least] = [each, far];
    }
    return best;
  }

  tell(found) {
    this.tip.hidden = !found;
    if (!found) return;
    if (this.tip.textContent !== found.text) this.tip.textContent = found.text;
    const { offsetWidth, offsetHeight } = this.tip;
    const left = Math.min(Math.max(found.x - offsetWidth / 2, 0), this.width - offsetWidth);
    const above = found.y - offsetHeight - 12;
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${above < -10 ? found.y + 14 : above}px`;
  }

  async download() {
    const SCALE = 3;
    const { height, file } = this.data;
    const style = getComputedStyle(this.box);
    const card = style.getPropertyValue("--card").trim() || "#fff";
    const copy = this.svg.cloneNode(true);
    copy.setAttribute("width", this.width);
    copy.style.cssText = `color:${style.color};font:12px sans-serif;--card:${card}`;
    const picture = new Image();
    const text = new XMLSerializer().serializeToString(copy);
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await picture.decode();
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: SCALE * (this.width + 16), height: SCALE * (height + 16) });
    const pen = canvas.getContext("2d");
    pen.scale(SCALE, SCALE);
    pen.fillStyle = card;
    pen.fillRect(0, 0, this.width + 16, height + 16);
    pen.drawImage(picture, 8, 8, this.width, height);
    const link = Object.assign(document.createElement("a"), {
      href: canvas.toDataURL("image/png"), download: file,
    });
    link.click();
  }

  close() {
    this.sizes.disconnect();
  }
}

const shown = new WeakMap();

export default function ({ data, parentElement }) {
  const plot = shown.get(parentElement) ?? new Plot(parentElement.querySelector(".plot"));
  shown.set(parentElement, plot);
  plot.update(data);
  return () => {
    plot.close();
    shown.delete(parentElement);
  };
}
