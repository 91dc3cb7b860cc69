// The style card: sliders for what stays the same when the digit turns.
import { element, listen, mount, parts } from "../shared/dom.js";
import { clamp, gaussian, unpacked } from "../shared/maths.js";
import { follow, leave } from "../shared/pose.js";

const SHOWN = 8;
const signed = (value) => `${value < -0.049 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;

// the value of a slider for a style
function read({ channel, reading, offset }, style) {
  if (!reading) return style[channel] ?? 0;
  return reading.reduce((sum, each, g) => sum + each * (style[g] ?? 0), offset);
}

// position of the centre of a thumb, which stops half a thumb before the ends of the track
const place = (share) => `calc(${100 * share}% + ${(0.5 - share).toFixed(4)} * var(--thumb))`;

class StyleCard {
  constructor(root, { key }) {
    const { random, own, card } = parts(root, "random", "own", "card");
    Object.assign(this, parts(root, "lead", "sliders", "morph", "far", "drawn", "fitted", "small", "undo", "prior"));
    [this.morphName, this.share, this.reached] = this.morph.firstElementChild.children;
    this.watch = () => this.copy();
    follow(this, key);
    this.live.watchers.add(this.watch); // the small picture is a copy of the dial's
    new ResizeObserver(this.watch).observe(this.small);
    const unlikely = () => this.live.own.map(gaussian); // a draw from the prior
    random.addEventListener("click", () => this.live.glide(this.data.likely ? this.likely() : unlikely()));
    this.prior.addEventListener("click", () => this.live.glide(unlikely()));
    own.addEventListener("click", () => this.live.glide(null));
    this.undo.addEventListener("click", () => this.live.undo());
    card.addEventListener("keydown", (event) => {
      if (event.key !== "z" || event.shiftKey || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.live.undo();
    });
    listen(this.share, { input: () => this.blend(Number(this.share.value)), change: () => this.live.commit() });
  }

  update(data) {
    const rebuilt = JSON.stringify(data.styles) !== JSON.stringify(this.data?.styles);
    this.data = data;
    this.live.own = data.own;
    this.lead.textContent = data.lead;
    this.lead.title = data.hint;
    this.prior.hidden = !data.likely;
    this.drawn.textContent = data.likely
      ? `A random style is close to the style of a real ${data.thing}. The paper's prior also gives styles that no real ${data.thing} has.`
      : "A random style is drawn from the paper's prior.";
    this.drawn.title = data.likely
      ? `Random styles come from a kernel density over ${data.likely.rows} training ${data.thing}s; the prior is N(0, 1) for each channel.`
      : "The prior is N(0, 1) for each channel.";
    this.fitted.textContent = data.note;
    this.far.lastChild.textContent = `beyond real ${data.thing}s`;
    // without data on real digits
    this.limit = Math.max(3, Math.ceil(Math.max(0, ...data.own.map(Math.abs))));
    this.morph.hidden = !data.morph;
    this.morphName.textContent = data.morph?.name ?? "";
    if (rebuilt) this.build();
    this.draw();
  }

  // a draw near the style of a real digit, as in fgpvae.evaluation.latents.Styles
  likely() {
    const { mean, rows, near } = this.data.likely;
    const factor = unpacked(this.data.likely.factor); // [rows, G], row by row
    const weights = Array.from({ length: rows }, () => near * gaussian());
    weights[Math.floor(Math.random() * rows)] += Math.sqrt((1 - near ** 2) * (rows - 1));
    return mean.map((value, g) => weights.reduce((sum, each, row) => sum + each * factor[row * mean.length + g], value));
  }

  build() {
    this.rows = this.data.styles.map((style) => {
      const text = element("span", { className: "name", title: style.hint }, style.name);
      const input = element("input", { type: "range", step: "any", title: "Double click: back to its own value" });
      const output = element("output");
      listen(input, {
        input: () => this.move(style, Number(input.value)),
        change: () => this.live.commit(),
        mousedown: ({ detail }) => detail === 1 && this.live.mark(),
        dblclick: () => {
          this.live.unwind(); // what its first click has changed
          this.move(style, read(style, this.live.own));
          this.live.commit();
        },
      });
      return { style, row: element("label", { className: "row" }, text, input, output), input, output };
    });
    const rows = this.rows.map(({ row }) => row);
    const open = Boolean(this.sliders.querySelector("[open]"));
    const all = element("summary", {}, `Show all ${rows.length}`);
    const more = element("details", { className: "more", open, ontoggle: this.changed }, all, ...rows.slice(SHOWN));
    this.sliders.replaceChildren(...rows.slice(0, SHOWN), ...(rows.length > SHOWN ? [more] : []));
  }

  move(along, value) {
    this.live.stop();
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
    this.live.stop();
    const style = this.live.own.map((value, g) => value + share * (this.data.morph.style[g] - value));
    this.live.set({ style: share ? style : null });
  }

  draw() {
    const values = this.live.values();
    const far = this.rows.filter((each) => this.drawRow(each, values) && each.row.checkVisibility());
    this.far.hidden = !far.length;
    this.undo.disabled = !this.live.past.length;
    if (this.data.morph) this.drawMorph();
  }

  // whether the style is beyond real digits, so that a slider is extended
  drawRow({ style, row, input, output }, values) {
    const [value, own] = [read(style, values), read(style, this.live.own)];
    const [low, high] = style.ends ?? [-this.limit, this.limit];
    const [least, most] = [Math.min(low, value, own), Math.max(high, value, own)];
    Object.assign(input, { min: least, max: most, value });
    const at = (each) => place(clamp((each - least) / (most - least || 1), 0, 1));
    const marks = {
      "--a": at(clamp(Math.min(value, own), low, high)),
      "--b": at(clamp(Math.max(value, own), low, high)),
      "--own": at(own),
      "--low": least < low ? at(low) : "0%",
      "--high": most > high ? at(high) : "100%",
    };
    for (const [name, mark] of Object.entries(marks)) input.style.setProperty(name, mark);
    const beyond = value < low - 1e-6 || value > high + 1e-6;
    row.classList.toggle("beyond", beyond);
    output.textContent = signed(value);
    input.ariaValueText = beyond ? `${signed(value)}, ${this.far.textContent}` : signed(value);
    return least < low || most > high;
  }

  // position of the style between its own and the other one; 0 if it is not between them
  drawMorph() {
    const [own, style] = [this.live.own, this.live.values()];
    const way = own.map((value, g) => this.data.morph.style[g] - value);
    const long = way.reduce((sum, each) => sum + each ** 2, 0);
    const along = way.reduce((sum, each, g) => sum + each * (style[g] - own[g]), 0);
    const nearest = clamp(along / (long || 1), 0, 1);
    const off = way.reduce((sum, each, g) => sum + (style[g] - own[g] - nearest * each) ** 2, 0);
    const share = off < 1e-4 * long ? nearest : 0;
    this.share.value = share;
    this.share.style.setProperty("--a", "0%");
    this.share.style.setProperty("--b", place(share));
    this.reached.textContent = `${Math.round(100 * share)}%`;
  }

  copy() {
    const image = this.live.picture?.image;
    if (!image || !this.small.clientWidth) return;
    Object.assign(this.small, { width: image.width, height: image.height });
    this.small.getContext("2d", { alpha: false }).putImageData(image, 0, 0);
  }

  destroy() {
    this.live.watchers.delete(this.watch);
    leave(this);
  }
}

export default mount(StyleCard);
