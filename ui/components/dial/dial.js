// The dial: a ring of angles around the digit, or a track below it, drawn by the decoder in the browser.
import { Degrees } from "../shared/degrees.js";
import { parts } from "../shared/dom.js";
import { mount } from "../shared/mount.js";
import { follow, leave } from "../shared/pose.js";
import { circle } from "./circle.js";
import { load } from "./decoders.js";
import { Gestures } from "./gestures.js";
import { Hint } from "./hint.js";
import { Picture } from "./picture.js";
import { Player } from "./player.js";
import { track } from "./track.js";
import { Trails } from "./trails.js";
import { Views } from "./views.js";

const AGAIN = 1500; // milliseconds, if a decoder cannot be loaded

// degrees with at most one decimal, for inputs
const plain = (angle) => `${(Math.round(angle * 10) / 10) % 360}`;

export class Dial {
  constructor(root, { line, key }) {
    const shape = line ? track : circle;
    Object.assign(this, { root, shape });
    const all = parts(root, "digit", "other", "views", "slide", "typed", "play", "hint", "trails", "ring");
    Object.assign(this, parts(root, "card", "stage", "grab", "arm", "angle", "caption", "names"));
    this.card.classList.toggle("line", line);
    root.querySelector("#keys").textContent = shape.keyHelp;
    this.grab.ariaValueMax = shape.span;
    this.ring = new shape.Band(all.ring);
    this.picture = new Picture(all.digit, shape);
    this.beside = line ? null : new Picture(all.other, shape); // of a second model
    this.views = new Views(all.views, shape);
    this.hint = line ? null : new Hint(all.hint);
    this.trails = new Trails(all.trails);
    this.changed = () => this.request();
    follow(this, key);
    const go = (angle) => {
      this.halt();
      this.live.set({ angle });
    };
    this.degrees = new Degrees(all.slide, all.typed, go, () => this.turned(), this.changed);
    this.player = new Player(all.play, shape.action, (degrees) => {
      this.live.set({ angle: shape.onward(this.live.angle, degrees) });
    });
    this.player.button.addEventListener("click", () => this.play(!this.player.playing));
    this.gestures = new Gestures(this);
    new ResizeObserver(() => this.ring.draw()).observe(this.stage);
  }

  update(data, send) {
    const { live } = this;
    this.send = send;
    live.send = (pose) => this.send("pose", pose);
    const fresh = data.scene !== this.data?.scene;
    this.data = data;
    live.own = data.own;
    if (fresh) this.showScene(data);
    live.receive(data.pose, this.gestures.turning);
    live.meet(data.subject);
    this.card.style.setProperty("--size", `${data.size}px`);
    this.card.style.setProperty("--warm", data.heldOutColour);
    this.card.classList.toggle("whole", !data.disc);
    this.card.classList.toggle("own-unit", !data.scale.degrees);
    this.grab.ariaLabel = `View of the ${data.thing}`;
    this.picture.canvas.ariaLabel = `The ${data.thing} as the model draws it`;
    this.degrees.colour(data.cycle);
    this.connect();
    this.ring.draw(data.cycle);
    for (const listener of live.listeners) listener();
  }

  showScene(data) {
    this.picture.show(data);
    if (this.live.style && this.live.style.length !== data.own.length) this.live.style = null;
    this.trails.show(data.trails);
    this.views.show(data, (angle) => this.words(angle));
    this.ring.widen(data.widths);
    if (!this.beside) return;
    this.beside.show(data.beside);
    this.card.classList.toggle("two", Boolean(data.beside));
    this.names.hidden = !data.beside;
    if (!data.beside) return;
    [data.name, data.beside.name].forEach((name, k) => (this.names.children[k].textContent = name));
    this.beside.canvas.ariaLabel = `The digit as ${data.beside.name} draws it`;
  }

  // connect to the decoders; load missing ones
  async connect() {
    clearTimeout(this.missing);
    const { scene } = this.data;
    const missing = [this.picture, this.beside].filter((each) => each && !each.connect());
    this.request();
    if (!missing.length) return;
    const here = await Promise.all(missing.map((each) => load(each.scene.network)));
    if (this.data.scene !== scene || !this.root.isConnected) return;
    if (here.every(Boolean)) return this.connect();
    clearTimeout(this.missing);
    this.missing = setTimeout(() => {
      this.send("need", { at: Date.now() }); // a rerun of the page offers its decoders again
      this.connect();
    }, AGAIN);
  }

  // the angle as text: degrees, or the unit of own views with decimals that fit its range
  words(angle) {
    const { low, high, degrees } = this.data.scale;
    if (degrees) return `${plain(angle)}${Number.isInteger(Number(plain(angle))) ? ".0" : ""}°`;
    const places = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(high - low)))));
    return (low + (angle / this.shape.span) * (high - low)).toFixed(places);
  }

  // --- drawing ---

  request() {
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = null;
    const { live, picture, beside } = this;
    this.shape.pointTo(this.arm, live.angle);
    if (picture.decoder) {
      picture.draw(live.angle, live.values());
      this.card.dataset.ready = "yes";
      const second = beside?.decoder && beside;
      second?.draw(live.angle, second.following(live.values(), live.own));
      live.drawn(picture, second);
    }
    this.trails.draw(live.angle / this.shape.span);
    this.describe(live.angle);
  }

  describe(angle) {
    const text = this.words(angle);
    const { seen, held, caption } = this.views.state(angle);
    this.angle.textContent = text;
    this.caption.textContent = caption;
    this.caption.classList.toggle("held", held);
    this.stage.classList.toggle("at-view", seen);
    this.stage.classList.toggle("at-held", held);
    const shown = plain(angle);
    this.degrees.show(shown);
    this.grab.ariaValueNow = shown;
    this.grab.ariaValueText = `${this.data.scale.degrees ? `${shown} degrees` : text}, ${caption}`;
  }

  // --- user actions ---

  toggle(index) {
    if (index === null || this.views.buttons[index].disabled) return;
    const indices = this.views.toggle(index);
    if (!indices) return this.say("one view is needed");
    this.request();
    this.send("context", { indices, revision: this.live.revision });
  }

  say(text) {
    this.caption.textContent = text;
    setTimeout(this.changed, 1600);
  }

  // stop all animations
  halt() {
    this.player.run(false);
    this.live.stop();
  }

  // after a drag
  turned() {
    this.hint?.used();
    this.live.commit();
  }

  play(go) {
    if (this.player.run(go) && !go) this.turned();
  }

  destroy() {
    this.halt();
    clearTimeout(this.missing);
    clearTimeout(this.gestures.typing);
    leave(this);
  }
}

export default mount((root, data) => new Dial(root, data));
