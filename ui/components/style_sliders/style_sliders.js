// The style card: sliders for what stays the same when the digit turns.
import { mount } from "../shared/mount.js";
import { unpacked } from "../shared/packed.js";
import { poseOf } from "../shared/pose.js";

const SHOWN = 8;
const signed = (value) => `${value < -0.049 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;

// the value of a slider at a style
function read({ channel, reading, offset }, style) {
  if (!reading) return style[channel] ?? 0;
  return reading.reduce((sum, each, g) => sum + each * (style[g] ?? 0), offset);
}

function gaussian() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

class StyleCard {
  constructor(root) {
    const $ = (name) => root.querySelector(name);
    Object.assign(this, { lead: $(".lead"), sliders: $(".sliders"), more: $(".more"), morph: $(".morph") });
    Object.assign(this, { far: $(".far"), drawn: $(".drawn"), fitted: $(".fitted") });
    Object.assign(this, { small: $(".small"), undo: $(".undo") });
    this.changed = () => (this.frame ??= requestAnimationFrame(() => this.draw()));
    this.watch = (picture) => this.copy(picture);
    this.sizes = new ResizeObserver(() => {
      this.narrow = this.small.clientWidth > 0;
      if (this.live?.picture?.image) this.copy(this.live.picture);
    });
    this.sizes.observe(this.small);
    this.more.addEventListener("click", () => {
      this.all = !this.all;
      this.arrange();
    });
    Object.assign(this, { random: $(".random"), prior: $(".prior") });
    this.random.addEventListener("click", () => {
      this.live.glide(this.data.likely ? this.likely() : this.unlikely());
    });
    this.prior.addEventListener("click", () => this.live.glide(this.unlikely()));
    $(".own").addEventListener("click", () => this.live.glide(null));
    this.undo.addEventListener("click", () => this.live.undo());
    $(".card").addEventListener("keydown", (event) => {
      if (event.key !== "z" || event.shiftKey || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.live.undo();
    });
    const share = this.morph.querySelector("input");
    share.addEventListener("input", () => this.blend(Number(share.value)));
    share.addEventListener("change", () => this.live.commit());
  }

  update(data) {
    const live = poseOf(data.key);
    if (live !== this.live) {
      this.leave();
      live.listeners.add(this.changed);
      live.watchers.add(this.watch);
      this.live = live;
    }
    const names = JSON.stringify(data.styles);
    const rebuilt = names !== this.names;
    this.names = names;
    this.data = data;
    live.own = data.own;
    this.lead.textContent = data.lead;
    this.lead.title = data.hint;
    this.prior.hidden = !data.likely;
    this.drawn.textContent = data.likely
      ? `A random style is that of one of ${data.likely.rows} training ${data.thing}s, changed a little (a kernel density). The paper's prior, N(0, 1) for each channel, also gives styles that are no ${data.thing}s.`
      : "A random style is drawn from the paper's prior, N(0, 1) for each channel.";
    this.fitted.textContent = data.note;
    this.far.lastChild.textContent = `beyond real ${data.thing}s`;
    if (rebuilt) this.build();
    // where nothing is known of real digits
    this.limit = Math.max(3, Math.ceil(Math.max(0, ...data.own.map(Math.abs))));
    const other = JSON.stringify(data.morph);
    if (other !== this.other) {
      this.other = other;
      this.morph.hidden = !data.morph;
      this.morph.querySelector(".name").textContent = data.morph?.name ?? "";
      this.morph.querySelector("input").value = 0;
    }
    this.draw();
  }

  // near the style of a real digit, as fgpvae.latents.Styles draws it
  likely() {
    const { mean, rows, near } = this.data.likely;
    const factor = unpacked(this.data.likely.factor); // [rows, G], row by row
    const chosen = Math.floor(Math.random() * rows);
    const weights = Array.from({ length: rows }, () => near * gaussian());
    weights[chosen] += Math.sqrt((1 - near ** 2) * (rows - 1));
    return mean.map((value, g) => value + weights.reduce((sum, each, row) => sum + each * factor[row * mean.length + g], 0));
  }

  // among all that the prior holds possible
  unlikely() {
    return this.live.own.map(() => gaussian());
  }

  build() {
    this.rows = this.data.styles.map((style) => {
      const { name, hint } = style;
      const row = document.createElement("label");
      row.className = "row";
      const text = Object.assign(document.createElement("span"), { className: "name", textContent: name });
      text.title = hint;
      const input = Object.assign(document.createElement("input"), { type: "range", step: "any" });
      const output = document.createElement("output");
      input.title = "Double click: back to its own value";
      input.addEventListener("input", () => this.move(style, Number(input.value)));
      input.addEventListener("change", () => this.live.commit());
      input.addEventListener("dblclick", () => {
        this.move(style, read(style, this.live.own));
        this.live.commit();
      });
      row.append(text, input, output);
      return { style, row, input, output };
    });
    this.sliders.replaceChildren(...this.rows.map(({ row }) => row));
    this.arrange();
  }

  arrange() {
    this.rows.forEach(({ row }, rank) => (row.hidden = !this.all && rank >= SHOWN));
    this.more.hidden = this.rows.length <= SHOWN;
    this.more.textContent = this.all ? `Show the first ${SHOWN}` : `Show all ${this.rows.length}`;
    this.more.setAttribute("aria-expanded", Boolean(this.all));
    this.sliders.classList.toggle("long", Boolean(this.all));
    this.draw();
  }

  move(along, value) {
    this.live.halt();
    const style = Array.from(this.live.values());
    if (along.direction) {
      const step = value - read(along, style);
      along.direction.forEach((each, g) => (style[g] += step * each));
    } else {
      style[along.channel] = value;
    }
    const same = style.every((each, g) => Math.abs(each - this.live.own[g]) < 1e-4);
    this.live.set({ style: same ? null : style });
  }

  blend(share) {
    const { own } = this.live;
    this.live.halt();
    const style = own.map((value, g) => value + share * (this.data.morph.style[g] - value));
    this.live.set({ style: share ? style : null });
    this.morph.querySelector("input").value = share;
  }

  draw() {
    this.frame = null;
    const values = this.live.values();
    let any = false;
    for (const each of this.rows) {
      if (each.row.hidden) continue;
      any = this.drawRow(each, read(each.style, values), read(each.style, this.live.own)) || any;
    }
    this.far.hidden = !any;
    this.undo.disabled = !this.live.past.length;
    if (!this.morph.hidden) this.drawMorph();
  }

  // a slider reaches as far as real digits, and farther only if the style is there
  drawRow({ style, row, input, output }, value, own) {
    const [low, high] = style.ends ?? [-this.limit, this.limit];
    const [least, most] = [Math.min(low, value, own), Math.max(high, value, own)];
    if (Number(input.min) !== least) input.min = least;
    if (Number(input.max) !== most) input.max = most;
    if (Number(input.value) !== value) input.value = value;
    // where the thumb's centre is, which stops short of the ends by half a thumb
    const place = (each) => {
      const share = Math.min(1, Math.max(0, (each - least) / (most - least || 1)));
      return `calc(${100 * share}% + ${(0.5 - share).toFixed(4)} * var(--thumb))`;
    };
    const within = (each) => Math.min(high, Math.max(low, each));
    input.style.setProperty("--a", place(within(Math.min(value, own))));
    input.style.setProperty("--b", place(within(Math.max(value, own))));
    input.style.setProperty("--own", place(own));
    input.style.setProperty("--low", least < low ? place(low) : "0%");
    input.style.setProperty("--high", most > high ? place(high) : "100%");
    const beyond = value < low - 1e-6 || value > high + 1e-6;
    row.classList.toggle("beyond", beyond);
    const text = signed(value);
    if (output.textContent !== text) output.textContent = text;
    input.setAttribute("aria-valuetext", beyond ? `${text}, ${this.far.textContent}` : text);
    return least < low || most > high;
  }

  // how far the style is on the way to the other one; 0 if it is not on that way
  share() {
    const [own, style] = [this.live.own, this.live.values()];
    const way = own.map((value, g) => this.data.morph.style[g] - value);
    const long = way.reduce((sum, each) => sum + each ** 2, 0);
    const along = way.reduce((sum, each, g) => sum + each * (style[g] - own[g]), 0);
    const share = Math.min(1, Math.max(0, along / (long || 1)));
    const off = way.reduce((sum, each, g) => sum + (style[g] - own[g] - share * each) ** 2, 0);
    return off < 1e-4 * long ? share : 0;
  }

  drawMorph() {
    const input = this.morph.querySelector("input");
    const share = this.share();
    if (Number(input.value) !== share) input.value = share;
    input.style.setProperty("--a", "0%");
    input.style.setProperty("--b", `calc(${100 * share}% + ${(0.5 - share).toFixed(4)} * var(--thumb))`);
    this.morph.querySelector("output").textContent = `${Math.round(100 * share)}%`;
  }

  // the dial's picture, where a narrow screen has room for a small one only
  copy({ image }) {
    const { small } = this;
    if (!this.narrow) return;
    if (small.width !== image.width) small.width = image.width;
    if (small.height !== image.height) small.height = image.height;
    small.getContext("2d", { alpha: false }).putImageData(image, 0, 0);
  }

  leave() {
    this.live?.listeners.delete(this.changed);
    this.live?.watchers.delete(this.watch);
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    this.sizes.disconnect();
    this.leave();
  }
}

export default mount((root) => new StyleCard(root));
