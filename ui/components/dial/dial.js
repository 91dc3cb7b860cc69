// The dial: a ring of angles around the digit, or a track below it, drawn by the decoder in the browser.
import { Degrees } from "../shared/degrees.js";
import { mount, onDrag, parts } from "../shared/dom.js";
import { follow, leave, still } from "../shared/pose.js";
import { load, Picture } from "./picture.js";
import { circle, drawBand, RADIUS, track } from "./shapes.js";
import { Trails } from "./trails.js";
import { Views } from "./views.js";

const AGAIN = 1500; // milliseconds, if a decoder cannot be loaded
const SPEED = 45; // degrees a second
let used = false; // whether a ring has been turned: the hint is not shown again

// degrees with at most one decimal, for inputs
const plain = (angle) => `${(Math.round(angle * 10) / 10) % 360}`;

export class Dial {
  playing = false;

  constructor(root, { line, key }) {
    const shape = line ? track : circle;
    const all = parts(root, "digit", "other", "views", "slide", "typed", "trails");
    Object.assign(this, parts(root, "card", "stage", "ring", "grab", "arm", "angle", "caption"));
    Object.assign(this, { root, shape }, parts(root, "names", "play", "word", "hint"));
    this.card.classList.toggle("line", line);
    root.querySelector("#keys").textContent = shape.keyHelp;
    this.grab.ariaValueMax = shape.span;
    this.word.textContent = shape.action;
    this.hint.hidden = line || used;
    this.picture = new Picture(all.digit, shape);
    this.beside = line ? null : new Picture(all.other, shape); // of a second model
    this.views = new Views(all.views, shape);
    this.trails = new Trails(all.trails);
    follow(this, key);
    const go = (angle) => {
      this.halt();
      this.live.set({ angle });
    };
    this.degrees = new Degrees(all.slide, all.typed, go, () => this.turned(), this.changed);
    this.play.addEventListener("click", () => this.toggle());
    onDrag(this.stage, (event) => this.press(event));
    all.views.addEventListener("click", (event) => {
      // a pointer's clicks end a press; detail 0 is a click from the keyboard
      const button = event.target.closest(".view");
      if (button && event.detail === 0) this.choose(Number(button.dataset.index));
    });
    this.grab.addEventListener("keydown", (event) => this.key(event));
    all.slide.addEventListener("keydown", (event) => {
      if (event.key in shape.keys(0, 1)) this.key(event); // as on the ring
    });
  }

  update(data, stale) {
    const { live } = this;
    live.send = (pose) => this.set("pose", pose);
    const fresh = data.scene !== this.data?.scene;
    this.data = data;
    live.own = data.own;
    if (fresh) {
      this.picture.show(data);
      if (live.style && live.style.length !== data.own.length) live.style = null;
      this.trails.show(data.trails);
      this.views.show(data, stale, (angle) => this.words(angle));
      this.showBeside(data);
    }
    live.receive(data.pose, this.stage.matches(".dragged"));
    live.meet(data.subject);
    this.card.style.setProperty("--size", `${data.size}px`);
    this.card.style.setProperty("--warm", data.heldOutColour);
    this.card.classList.toggle("whole", !data.disc);
    this.card.classList.toggle("own-unit", !data.scale.degrees);
    this.grab.ariaLabel = `View of the ${data.thing}`;
    this.picture.canvas.ariaLabel = `The ${data.thing} as the model draws it`;
    this.degrees.colour(data.cycle);
    this.connect();
    drawBand(this.ring, this.shape, data.widths, data.cycle);
    for (const listener of live.listeners) listener();
  }

  showBeside(data) {
    const beside = this.beside && data.beside;
    this.beside?.show(beside);
    this.card.classList.toggle("two", Boolean(beside));
    this.names.hidden = !beside;
    [data.name, beside?.name].forEach((name, k) => (this.names.children[k].textContent = name));
    if (beside) this.beside.canvas.ariaLabel = `The digit as ${beside.name} draws it`;
  }

  // connect to the decoders; load missing ones
  async connect() {
    clearTimeout(this.missing);
    const { scene } = this.data;
    const missing = [this.picture, this.beside].filter((each) => each && !each.connect());
    this.changed();
    if (!missing.length) return;
    const here = await Promise.all(missing.map((each) => load(each.scene.network)));
    if (this.data.scene !== scene || !this.root.isConnected) return;
    if (here.every(Boolean)) return this.connect();
    clearTimeout(this.missing);
    this.missing = setTimeout(() => {
      this.set("need"); // a rerun of the page offers its decoders again
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

  draw() {
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
    const [text, shown] = [this.words(live.angle), plain(live.angle)];
    const { seen, held, caption } = this.views.state(live.angle, live.style);
    this.angle.textContent = text;
    this.caption.textContent = caption;
    this.caption.classList.toggle("held", held);
    this.stage.classList.toggle("at-view", seen);
    this.stage.classList.toggle("at-held", held);
    this.degrees.show(shown);
    this.grab.ariaValueNow = shown;
    this.grab.ariaValueText = `${this.data.scale.degrees ? `${shown} degrees` : text}, ${caption}`;
  }

  // --- pointer and keys, on the ring and on the digit itself ---

  press(event) {
    const { live, grab, shape, views } = this;
    const onDot = event.target.closest(".view");
    if (event.button !== 0 || (!onDot && event.target !== grab)) return null;
    event.preventDefault();
    grab.focus({ preventScroll: true, focusVisible: false });
    this.halt();
    const pointed = shape.pointed(event, this);
    const { angle, radius, side } = pointed;
    const onRing = Math.abs(radius - RADIUS) * side < 34;
    const onHandle = onRing && shape.reach(pointed, live.angle) < 20;
    const dot = onDot ? views.meant(pointed) : null;
    const view = dot ?? (onHandle ? views.at(live.angle) : null); // the handle may cover a dot
    const offset = onRing && !onHandle ? 0 : live.angle - angle;
    const jumps = onRing && !onHandle && dot === null;
    const turn = (to, { altKey }) => live.set({ angle: shape.bounded(altKey ? to : views.rest(to)) });
    if (jumps) turn(angle, event);
    return {
      move: (now) => {
        const to = shape.pointed(now, this);
        if (to.radius * to.side > 8) turn(to.angle + offset, now);
      },
      end: (moved, cancelled) => {
        if (moved || jumps) this.turned();
        else if (!cancelled) this.choose(view);
      },
    };
  }

  key(event) {
    const { live, shape } = this;
    const keys = shape.keys(live.angle, event.shiftKey ? 22.5 : 1);
    if (event.key in keys) {
      this.halt();
      live.set({ angle: shape.bounded(Math.round(keys[event.key] * 100) / 100) });
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.turned(), 300);
    } else if (event.key === " ") this.toggle();
    else if (event.key === "Enter") this.choose(this.views.at(live.angle));
    else return;
    event.preventDefault();
  }

  // show a view to the model, or hide it
  choose(index) {
    if (index === null || this.views.buttons[index].disabled) return;
    const indices = this.views.toggle(index);
    if (!indices) {
      this.caption.textContent = "one view is needed";
      setTimeout(this.changed, 1600);
      return;
    }
    this.changed();
    this.set("context", { indices, revision: this.live.revision });
  }

  turned() {
    used ||= !this.hint.hidden;
    this.hint.hidden = true;
    this.live.commit();
  }

  // --- playing ---

  toggle() {
    this.run(!this.playing);
    if (!this.playing) this.turned();
  }

  run(go) {
    const { live, shape } = this;
    const advance = (degrees) => live.set({ angle: shape.onward(live.angle, degrees) });
    const step = (last) => {
      this.stepping = requestAnimationFrame((now) => {
        step(now);
        advance((SPEED * Math.max(0, now - last)) / 1000);
      });
    };
    this.playing = go;
    this.play.ariaPressed = String(go);
    this.word.textContent = go ? "stop" : shape.action;
    cancelAnimationFrame(this.stepping);
    clearInterval(this.slowly);
    if (go && still.matches) this.slowly = setInterval(() => advance(22.5), 900);
    else if (go) step(performance.now());
  }

  halt() {
    this.run(false);
    this.live.stop();
  }

  destroy() {
    this.halt();
    clearTimeout(this.missing);
    clearTimeout(this.typing);
    leave(this);
  }
}

export default mount(Dial);
