// The dial: a ring of angles around the digit, drawn by the decoder in the browser.
import { load } from "../decoders/decoders.js";
import { Degrees } from "../shared/degrees.js";
import { mount } from "../shared/mount.js";
import { poseOf } from "../shared/pose.js";
import { Circle } from "./circle.js";
import { Gestures } from "./gestures.js";
import { Hint } from "./hint.js";
import { Picture } from "./picture.js";
import { Player } from "./player.js";
import { Views } from "./views.js";

const AGAIN = 1500; // milliseconds, if a decoder cannot be loaded

// a number with as many digits as its scale deserves
function inUnit({ low, high }, value) {
  const places = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(high - low)))));
  return value.toFixed(places);
}

// degrees with at most one decimal, for inputs
const plain = (angle) => `${(Math.round(angle * 10) / 10) % 360}`;

export class Dial {
  // shape: the circle, or the line of a track
  constructor(root, shape) {
    Object.assign(this, { root, shape });
    const $ = (name) => root.querySelector(name);
    Object.assign(this, { card: $(".card"), stage: $(".stage"), grab: $(".grab"), arm: $(".arm") });
    Object.assign(this, { reading: $(".angle"), caption: $(".caption"), names: $(".names") });
    this.ring = new shape.Band($(".ring"));
    this.picture = new Picture($(".digit"), shape);
    this.beside = $(".other") && new Picture($(".other"), shape); // of a second model
    this.views = new Views($(".views"), shape);
    this.degrees = $(".slide") && new Degrees($(".slide"), $(".typed"));
    this.player = new Player($(".play"), shape.action, (degrees) => {
      this.live.set({ angle: shape.onward(this.live.angle, degrees) });
    });
    this.gestures = new Gestures(this);
    this.hint = new Hint($(".hint"));
    this.stop = new AbortController();
    this.changed = () => this.request();
    this.listen();
    this.sizes = new ResizeObserver(() => this.ring.draw());
    this.sizes.observe(this.stage);
    // for tests: the picture at an angle in degrees with a style, or of a code
    root.host.fgpvae = {
      ready: () => Boolean(this.picture.decoder),
      decode: (angle, style) => Array.from(this.picture.decode(angle, style ?? this.live.own)),
      decodeBeside: (angle) => Array.from(this.beside.decode(angle, this.second())),
      decodeCode: (code) => Array.from(this.picture.decoder.run(Float64Array.from(code))),
      unknown: (angle) => this.picture.unknown(angle),
      pose: () => ({ angle: this.live.angle, style: this.live.style }),
    };
  }

  listen() {
    const { signal } = this.stop;
    const on = (target, name, act) => target.addEventListener(name, act, { signal });
    this.gestures.listen(on);
    on(this.player.button, "click", () => this.play(!this.player.playing));
    const go = (angle) => {
      this.halt();
      this.live.set({ angle });
    };
    this.degrees?.listen(on, go, () => this.turned(), () => this.request());
  }

  update(data, setStateValue) {
    const live = poseOf(data.key);
    if (live !== this.live) {
      this.live?.listeners.delete(this.changed);
      live.listeners.add(this.changed);
      this.live = live;
    }
    this.send = setStateValue;
    live.send = (pose) => this.send("pose", pose);
    const fresh = data.scene !== this.data?.scene;
    this.data = data;
    live.own = data.own;
    if (fresh) this.showScene(data);
    live.receive(data.pose, this.gestures.turning);
    live.meet(data.subject);
    this.card.style.setProperty("--size", `${data.size}px`);
    this.card.style.setProperty("--warm", data.heldOutColour);
    this.card.classList.toggle("whole", Boolean(data.scale));
    this.card.classList.toggle("own-unit", Boolean(data.scale && !data.scale.degrees));
    if (data.scale) {
      this.grab.setAttribute("aria-label", "View of the object");
      this.picture.canvas.setAttribute("aria-label", "The object as the model draws it");
    }
    this.degrees?.colour(data.cycle);
    this.connect();
    this.ring.draw(data.cycle);
    for (const listener of live.listeners) listener();
  }

  showScene(data) {
    this.picture.show(data);
    if (this.live.style && this.live.style.length !== data.own.length) this.live.style = null;
    this.views.show(data, (angle) => this.words(angle));
    this.ring.widen(Array.from({ length: 240 }, (_, k) => this.picture.unknown((this.shape.span * k) / 240)));
    if (!this.beside) return;
    this.beside.show(data.beside);
    this.card.classList.toggle("two", Boolean(data.beside));
    this.names.hidden = !data.beside;
    if (!data.beside) return;
    [data.name, data.beside.name].forEach((name, k) => (this.names.children[k].textContent = name));
    this.beside.canvas.setAttribute("aria-label", `The digit as ${data.beside.name} draws it`);
  }

  // to the decoders; those that are not here are loaded
  async connect() {
    clearTimeout(this.missing);
    const { scene } = this.data;
    const missing = [this.picture, this.beside].filter((each) => each && !each.connect());
    this.request();
    if (!missing.length) return;
    const here = await Promise.all(missing.map((each) => load(each.scene.network)));
    if (this.data.scene !== scene || this.stop.signal.aborted) return;
    if (here.every(Boolean)) return this.connect();
    clearTimeout(this.missing);
    this.missing = setTimeout(() => {
      this.send("need", { at: Date.now() }); // a page that runs offers its decoders anew
      this.connect();
    }, AGAIN);
  }

  // the reading: degrees, or in the unit of one's own views
  words(angle) {
    const { scale } = this.data;
    if (scale && !scale.degrees) return inUnit(scale, scale.low + (angle / this.shape.span) * (scale.high - scale.low));
    const shown = plain(angle);
    return `${shown.includes(".") ? shown : `${shown}.0`}°`;
  }

  // --- drawing ---

  request() {
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  // the first picture of a frame is made at once, so that the frame need not wait for it
  hurry() {
    if (this.hurried) return;
    this.hurried = true;
    cancelAnimationFrame(this.frame);
    this.draw();
    requestAnimationFrame(() => (this.hurried = false));
  }

  draw() {
    this.frame = null;
    const { angle } = this.live;
    this.shape.pointTo(this.arm, angle);
    if (this.picture.decoder) {
      this.picture.draw(angle, this.live.values());
      this.card.dataset.ready = "yes";
      if (this.beside?.decoder) this.beside.draw(angle, this.second());
      this.live.drawn(this.picture, this.beside?.decoder && this.beside);
    }
    this.describe(angle);
  }

  // the style of the second model
  second() {
    return this.beside.following(this.live.values(), this.live.own);
  }

  describe(angle) {
    const text = this.words(angle);
    const { seen, held, caption } = this.views.state(angle);
    if (this.reading.textContent !== text) this.reading.textContent = text;
    if (this.caption.textContent !== caption) this.caption.textContent = caption;
    this.caption.classList.toggle("held", held);
    this.stage.classList.toggle("at-view", seen);
    this.stage.classList.toggle("at-held", held);
    const shown = plain(angle);
    this.degrees?.show(shown);
    this.grab.setAttribute("aria-valuenow", shown);
    const { scale } = this.data;
    const said = scale && !scale.degrees ? text : `${shown} degrees`;
    this.grab.setAttribute("aria-valuetext", `${said}, ${caption}`);
  }

  // --- what the person does ---

  toggle(index) {
    if (index === null || this.views.buttons[index].disabled) return;
    const indices = this.views.toggle(index);
    if (!indices) return this.say("one view is needed");
    this.request();
    this.send("context", { indices });
  }

  say(text) {
    this.caption.textContent = text;
    setTimeout(() => this.request(), 1600);
  }

  // nothing moves by itself any longer
  halt() {
    this.player.run(false);
    this.live.halt();
  }

  // the person has turned it and let go
  turned() {
    this.hint.used();
    this.live.commit();
  }

  play(go) {
    if (this.player.run(go) && !go) this.turned();
  }

  destroy() {
    this.player.run(false);
    cancelAnimationFrame(this.frame);
    clearTimeout(this.missing);
    this.stop.abort();
    this.sizes.disconnect();
    this.ring.destroy();
    this.gestures.destroy();
    this.live?.listeners.delete(this.changed);
    this.live?.halt();
  }
}

export default mount((root) => new Dial(root, new Circle()));
