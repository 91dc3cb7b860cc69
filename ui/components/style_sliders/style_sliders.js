// The style card: sliders for what stays the same when the digit turns.
import { poseOf } from "../shared/pose.js";

const SHOWN = 8;
const cards = new WeakMap();
const signed = (value) => `${value < -0.049 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;

function gaussian() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}

class StyleCard {
  constructor(root) {
    const $ = (name) => root.querySelector(name);
    Object.assign(this, { lead: $(".lead"), sliders: $(".sliders"), more: $(".more"), morph: $(".morph") });
    this.changed = () => (this.frame ??= requestAnimationFrame(() => this.draw()));
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
    const share = this.morph.querySelector("input");
    share.addEventListener("input", () => this.blend(Number(share.value)));
    share.addEventListener("change", () => this.live.commit());
  }

  update(data) {
    const live = poseOf(data.key);
    if (live !== this.live) {
      this.live?.listeners.delete(this.changed);
      live.listeners.add(this.changed);
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
    this.random.title = data.likely
      ? `Drawn among the styles of ${data.likely.digits} real ${data.thing}s: a Gaussian fitted to them`
      : this.prior.title;
    if (rebuilt) this.build();
    this.limit = Math.max(3, Math.ceil(Math.max(0, ...data.own.map(Math.abs))));
    for (const { input } of this.rows) {
      input.min = -this.limit;
      input.max = this.limit;
    }
    const other = JSON.stringify(data.morph);
    if (other !== this.other) {
      this.other = other;
      this.morph.hidden = !data.morph;
      this.morph.querySelector(".name").textContent = data.morph?.name ?? "";
      this.morph.querySelector("input").value = 0;
    }
    this.draw();
  }

  // among the styles of real digits: mean + factorᵀ noise
  likely() {
    const { mean, factor } = this.data.likely;
    const style = [...mean];
    for (const row of factor) {
      const noise = gaussian();
      row.forEach((value, g) => (style[g] += noise * value));
    }
    return style;
  }

  // among all that the prior holds possible
  unlikely() {
    return this.live.own.map(() => gaussian());
  }

  build() {
    this.rows = this.data.styles.map(({ channel, name, hint }) => {
      const row = document.createElement("label");
      row.className = "row";
      const text = Object.assign(document.createElement("span"), { className: "name", textContent: name });
      text.title = hint;
      const input = Object.assign(document.createElement("input"), { type: "range", step: 0.01 });
      const output = document.createElement("output");
      input.title = "Double click: back to its own value";
      input.addEventListener("input", () => this.move(channel, Number(input.value)));
      input.addEventListener("change", () => this.live.commit());
      input.addEventListener("dblclick", () => {
        this.move(channel, this.live.own[channel]);
        this.live.commit();
      });
      row.append(text, input, output);
      return { channel, row, input, output };
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

  move(channel, value) {
    this.live.halt();
    const style = Array.from(this.live.values());
    style[channel] = value;
    const same = style.every((each, g) => Math.abs(each - this.live.own[g]) < 1e-9);
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
    for (const { channel, row, input, output } of this.rows) {
      if (row.hidden) continue;
      const value = values[channel] ?? 0;
      if (Number(input.value) !== value) input.value = value;
      // where the thumb's centre is, which stops short of the ends by half a thumb
      const share = Math.min(1, Math.max(0, 0.5 + value / (2 * this.limit)));
      const at = `calc(${100 * share}% + ${(0.5 - share).toFixed(4)} * var(--thumb))`;
      input.style.setProperty("--a", share < 0.5 ? at : "50%");
      input.style.setProperty("--b", share < 0.5 ? "50%" : at);
      const text = signed(value);
      if (output.textContent !== text) output.textContent = text;
      input.setAttribute("aria-valuetext", text);
    }
    if (!this.morph.hidden) this.drawMorph();
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

  destroy() {
    cancelAnimationFrame(this.frame);
    this.live?.listeners.delete(this.changed);
  }
}

export default function ({ data, parentElement }) {
  if (!cards.has(parentElement)) cards.set(parentElement, new StyleCard(parentElement));
  const card = cards.get(parentElement);
  card.update(data);
  return () => {
    card.destroy();
    cards.delete(parentElement);
  };
}
