// The dial: a ring of angles around the digit, drawn by the decoder in the browser.
import { apart, radians } from "../shared/geometry.js";
import { hub, poseOf, still } from "../shared/pose.js";
import { Decoder } from "./decoder.js";
import { Enlarger } from "./enlarger.js";
import { mount } from "./mount.js";
import { Series } from "./series.js";

const ENLARGE = 8;
export const RADIUS = 0.43; // of the ring's centre line, in sides of the stage
const THIN = 0.013; // widths of the ring, in sides of the stage
const WIDE = 0.1;
const DETENT = 0.8; // degrees within which the handle rests on a view
const SPEED = 45; // degrees a second when it turns by itself


// a number with as many digits as its scale deserves
function inUnit({ low, high }, value) {
  const places = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(high - low)))));
  return value.toFixed(places);
}

export class Dial {
  constructor(root) {
    this.root = root;
    const $ = (name) => root.querySelector(name);
    this.card = $(".card");
    this.stage = $(".stage");
    this.ring = $(".ring");
    this.digit = $(".digit");
    this.grab = $(".grab");
    this.views = $(".views");
    this.arm = $(".arm");
    this.play = $(".play");
    this.angleText = $(".angle");
    this.slide = $(".slide"); // a track has none
    this.typed = $(".typed");
    this.caption = $(".caption");
    this.buttons = [];
    this.paper = this.digit.getContext("2d", { alpha: false });
    this.stop = new AbortController();
    this.changed = () => this.request();
    this.awake = () => this.connect();
    hub.waiting.add(this.awake);
    this.listen();
    this.sizes = new ResizeObserver(() => this.drawRing());
    this.sizes.observe(this.stage);
    // for tests: the picture at an angle in degrees with a style, or of a code
    root.host.fgpvae = {
      ready: () => Boolean(this.decoder),
      decode: (angle, style) => Array.from(this.decode(angle, style ?? this.live.own)),
      decodeCode: (code) => Array.from(this.decoder.run(Float64Array.from(code))),
      unknown: (angle) => this.unknown(this.toModel(angle)),
      pose: () => ({ angle: this.live.angle, style: this.live.style }),
    };
  }

  update(data, setStateValue) {
    const live = poseOf(data.key);
    if (live !== this.live) {
      this.live?.listeners.delete(this.changed);
      live.listeners.add(this.changed);
      this.live = live;
    }
    // every message says which decoders are here, so that the server need not send them again
    this.send = (name, value) => setStateValue(name, { ...value, have: [...hub.networks.keys()] });
    live.send = (pose) => this.send("pose", pose);
    const fresh = data.scene !== this.data?.scene;
    this.data = data;
    live.own = data.own;
    if (fresh) {
      const Curves = this.curves;
      this.series = new Curves(data.code);
      this.variance = data.variance && new Curves(data.variance);
      // a click may be ahead of the server, whose answer to an earlier one is this
      const ahead = this.clicked && performance.now() - this.clicked < 2000;
      const same = ahead && data.observed.every((seen, index) => seen === this.observed[index]);
      if (!ahead || same) this.clicked = null;
      if (!this.clicked) this.observed = [...data.observed];
      if (live.style && live.style.length !== data.own.length) live.style = null;
      this.makeViews();
      this.animateRing();
    }
    live.receive(data.pose, this.turning);
    this.card.style.setProperty("--size", `${data.size}px`);
    this.card.classList.toggle("whole", Boolean(data.scale));
    if (data.scale) {
      this.grab.setAttribute("aria-label", "View of the object");
      this.digit.setAttribute("aria-label", "The object as the model draws it");
    }
    this.card.style.setProperty("--warm", data.heldOutColour);
    this.connect();
    this.drawRing();
    for (const listener of live.listeners) listener();
  }

  // to the decoder, once its weights are here
  connect() {
    const entry = hub.networks.get(this.data?.network);
    this.decoder = entry && (entry.decoder ??= new Decoder(entry));
    clearTimeout(this.missing);
    if (!entry) {
      if (this.data) this.missing = setTimeout(() => this.send("need", { at: Date.now() }), 1500);
      return;
    }
    const [channels, height, width] = this.decoder.shape;
    const known = this.enlarger;
    if (known?.width !== width || known?.height !== height || known?.channels !== channels) {
      this.enlarger = new Enlarger(channels, height, width, ENLARGE);
      this.digit.width = width * ENLARGE;
      this.digit.height = height * ENLARGE;
    }
    this.request();
  }

  // --- the circle; a track overrides this ---

  curves = Series;

  // an angle of the dial as the model sees it
  toModel(angle) {
    return radians(angle) * this.data.frequency;
  }

  apart(a, b) {
    return apart(a, b);
  }

  // from the pointer to the handle, pixels
  reach({ angle, radius, side }) {
    return radius * side * radians(apart(angle, this.live.angle));
  }

  // where the dial stands after a step, or may be dragged to
  bounded(angle) {
    return angle;
  }

  place(button, angle) {
    const w = radians(angle);
    button.style.left = `${50 - 100 * RADIUS * Math.sin(w)}%`;
    button.style.top = `${50 - 100 * RADIUS * Math.cos(w)}%`;
  }

  pointTo(angle) {
    this.arm.style.transform = `rotate(${-angle}deg)`;
  }

  // the reading: degrees, or in the unit of one's own views
  words(angle) {
    const { scale } = this.data;
    if (scale) return inUnit(scale, scale.low + (angle / this.span) * (scale.high - scale.low));
    const shown = `${(Math.round(angle * 10) / 10) % 360}`;
    return `${shown.includes(".") ? shown : `${shown}.0`}°`;
  }

  get span() {
    return 360;
  }

  keys(angle, step) {
    return {
      ArrowLeft: angle + step,
      ArrowUp: angle + step,
      ArrowRight: angle - step,
      ArrowDown: angle - step,
      PageUp: angle + 22.5,
      PageDown: angle - 22.5,
      Home: 0,
      End: 337.5,
    };
  }

  decode(angle, style) {
    const code = this.series.at(this.toModel(angle));
    this.data.styles.forEach((input, g) => (code[input] = style[g]));
    return this.decoder.run(code);
  }

  // the share of the prior variance that the views have left at an angle: the ring's width
  unknown(w) {
    if (!this.variance) return 0.2;
    return Math.min(1, Math.max(0, this.variance.at(w)[0]));
  }

  // --- drawing ---

  request() {
    this.frame ??= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.frame = null;
    const { angle } = this.live;
    this.pointTo(angle);
    if (this.decoder) {
      this.paper.putImageData(this.enlarger.run(this.decode(angle, this.live.values())), 0, 0);
      this.card.dataset.ready = "yes";
    }
    this.describe(angle);
  }

  describe(angle) {
    const shown = `${(Math.round(angle * 10) / 10) % 360}`;
    const text = this.words(angle);
    const view = this.viewAt(angle);
    const held = this.data.heldOut.some((index) => this.apart(this.data.angles[index], angle) < DETENT);
    const seen = view !== null && this.observed[view];
    const caption = seen ? "observed" : held ? this.data.heldOutText : "imagined";
    if (this.angleText.textContent !== text) this.angleText.textContent = text;
    if (this.caption.textContent !== caption) this.caption.textContent = caption;
    this.caption.classList.toggle("held", held && !seen);
    this.stage.classList.toggle("at-view", seen);
    this.stage.classList.toggle("at-held", held && !seen);
    this.grab.setAttribute("aria-valuenow", shown);
    if (this.slide) {
      this.slide.value = shown;
      // what is being typed stays as it is
      if (this.root.activeElement !== this.typed) this.typed.value = shown;
    }
    const said = this.data.scale ? text : `${shown} degrees`;
    this.grab.setAttribute("aria-valuetext", `${said}, ${caption}`);
  }

  animateRing() {
    const to = Array.from({ length: 240 }, (_, k) => this.unknown(this.toModel((this.span * k) / 240)));
    const from = this.widths;
    cancelAnimationFrame(this.widening);
    if (!from || still.matches) {
      this.widths = to;
      return;
    }
    const start = performance.now();
    const step = (now) => {
      const share = Math.min(1, Math.max(0, now - start) / 220);
      const eased = 1 - (1 - share) ** 3;
      this.widths = to.map((value, k) => from[k] + eased * (value - from[k]));
      this.drawRing();
      if (share < 1) this.widening = requestAnimationFrame(step);
    };
    this.widening = requestAnimationFrame(step);
  }

  drawRing() {
    const side = this.stage.clientWidth;
    if (!side || !this.widths) return;
    const scale = Math.min(3, devicePixelRatio || 1);
    const pixels = Math.round(side * scale);
    if (this.ring.width !== pixels) this.ring.width = this.ring.height = pixels;
    const pen = this.ring.getContext("2d");
    pen.setTransform(pixels, 0, 0, pixels, 0, 0);
    pen.clearRect(0, 0, 1, 1);
    // a conic gradient runs clockwise, our angles do not
    const colours = pen.createConicGradient(-Math.PI / 2, 0.5, 0.5);
    const cycle = this.data.cycle;
    for (let k = 0; k <= cycle.length; k++) {
      colours.addColorStop(1 - k / cycle.length, cycle[k % cycle.length]);
    }
    const band = new Path2D();
    for (const side of [0.5, -0.5]) {
      const edge = new Path2D();
      this.widths.forEach((share, k) => {
        const w = (2 * Math.PI * k) / this.widths.length;
        const radius = RADIUS + side * (THIN + share * (WIDE - THIN));
        edge.lineTo(0.5 - radius * Math.sin(w), 0.5 - radius * Math.cos(w));
      });
      edge.closePath();
      band.addPath(edge);
    }
    pen.fillStyle = colours;
    pen.fill(band, "evenodd");
  }

  makeViews() {
    const { angles, heldOut, editable } = this.data;
    if (this.buttons.length !== angles.length) {
      this.buttons = angles.map((_, index) => {
        const button = document.createElement("button");
        button.type = "button";
        button.tabIndex = -1;
        button.dataset.index = index;
        return button;
      });
      this.views.replaceChildren(...this.buttons);
    }
    this.buttons.forEach((button, index) => {
      this.place(button, angles[index]);
      const held = heldOut.includes(index);
      const seen = this.observed[index];
      button.className = held && !seen ? "view held" : "view";
      button.disabled = !editable || held;
      button.setAttribute("aria-pressed", seen);
      const where = this.data.scale ? this.words(angles[index]) : `${angles[index]}°`;
      const name = `View at ${where.replace("°", " degrees")}`;
      const state = seen ? "observed" : held ? this.data.heldOutText : "not observed";
      button.setAttribute("aria-label", `${name}, ${state}`);
      button.title = button.disabled ? `${where}: ${state}` : `${where}: click to ${seen ? "hide this view from" : "show this view to"} the model`;
    });
  }

  // --- views ---

  viewAt(angle) {
    let best = null;
    this.data.angles.forEach((at, index) => {
      const distance = this.apart(at, angle);
      if (distance < DETENT && (best === null || distance < this.apart(this.data.angles[best], angle))) best = index;
    });
    return best;
  }

  toggle(index) {
    if (index === null || this.buttons[index].disabled) return;
    const next = [...this.observed];
    next[index] = !next[index];
    if (!next.some(Boolean)) return this.say("one view is needed");
    this.observed = next;
    this.clicked = performance.now();
    this.makeViews();
    this.request();
    this.send("context", { indices: next.flatMap((seen, at) => (seen ? [at] : [])) });
  }

  say(text) {
    this.caption.textContent = text;
    setTimeout(() => this.request(), 1600);
  }

  // --- turning ---

  pointed(event) {
    const box = this.stage.getBoundingClientRect();
    const x = event.clientX - box.left - box.width / 2;
    const y = event.clientY - box.top - box.height / 2;
    return {
      angle: (Math.atan2(-x, -y) * 180) / Math.PI,
      radius: Math.hypot(x, y) / box.width,
      side: box.width,
    };
  }

  listen() {
    const { signal } = this.stop;
    const on = (target, name, act) => target.addEventListener(name, act, { signal });
    on(this.stage, "pointerdown", (event) => this.press(event));
    on(this.stage, "pointermove", (event) => this.move(event));
    on(this.stage, "pointerrawupdate", (event) => this.move(event)); // ahead of the frame
    on(this.stage, "pointerup", (event) => this.lift(event, true));
    on(this.stage, "pointercancel", (event) => this.lift(event, false));
    on(this.views, "click", (event) => {
      // a pointer's click is dealt with when it is lifted; this one is from the keyboard
      const button = event.target.closest(".view");
      if (button && event.detail === 0) this.toggle(Number(button.dataset.index));
    });
    on(this.grab, "keydown", (event) => this.key(event));
    on(this.play, "click", () => this.run(!this.playing));
    if (this.slide) this.listenDegrees(on);
  }

  // the slider and the number below the ring
  listenDegrees(on) {
    const go = (input) => {
      if (input.value === "" || !Number.isFinite(input.valueAsNumber)) return;
      this.run(false, false);
      this.live.halt();
      this.live.set({ angle: input.valueAsNumber });
    };
    for (const input of [this.slide, this.typed]) {
      on(input, "input", () => go(input));
      on(input, "change", () => this.live.commit());
    }
    on(this.typed, "blur", () => this.request());
  }

  press(event) {
    if (!this.live || (event.pointerType === "mouse" && event.button !== 0)) return;
    const pointed = this.pointed(event);
    const { angle, radius, side } = pointed;
    const button = event.target.closest(".view");
    if (!button && event.target !== this.grab) return;
    event.preventDefault();
    this.grab.focus({ preventScroll: true, focusVisible: false });
    this.run(false, false);
    this.live.halt();
    this.stage.setPointerCapture(event.pointerId);
    const onRing = Math.abs(radius - RADIUS) * side < 34;
    const onHandle = onRing && this.reach(pointed) < 20;
    const target = button && !onHandle ? Number(button.dataset.index) : null;
    this.turning = {
      pointer: event.pointerId,
      x: event.clientX,
      y: event.clientY,
      offset: onRing && !onHandle ? 0 : this.live.angle - angle,
      view: onHandle ? this.viewAt(this.live.angle) : target,
      far: false,
      jump: onRing && !onHandle && target === null,
    };
    this.stage.classList.add("turning");
    if (this.turning.jump) this.turn(angle, event);
  }

  move(event) {
    const turning = this.turning;
    if (turning?.pointer !== event.pointerId) return;
    if (!turning.far && Math.hypot(event.clientX - turning.x, event.clientY - turning.y) < 4) return;
    turning.far = true;
    const { angle, radius, side } = this.pointed(event);
    if (radius * side > 8) this.turn(angle + turning.offset, event);
  }

  turn(angle, event) {
    if (!event.altKey) {
      const near = this.data.angles.find((at) => this.apart(at, angle) < DETENT);
      if (near !== undefined) angle = near;
    }
    angle = this.bounded(angle);
    if (angle === this.live.angle) return;
    this.live.set({ angle });
    this.hurry();
  }

  // the first picture of a frame is made at once, so that the frame need not wait for it
  hurry() {
    if (this.hurried) return;
    this.hurried = true;
    cancelAnimationFrame(this.frame);
    this.draw();
    requestAnimationFrame(() => (this.hurried = false));
  }

  lift(event, done) {
    const turning = this.turning;
    if (turning?.pointer !== event.pointerId) return;
    this.turning = null;
    this.stage.classList.remove("turning");
    if (turning.far || turning.jump) this.live.commit();
    else if (done) this.toggle(turning.view);
  }

  key(event) {
    const step = event.shiftKey ? 22.5 : 1;
    const { angle } = this.live;
    const keys = this.keys(angle, step);
    if (event.key in keys) {
      this.run(false, false);
      this.live.set({ angle: this.bounded(Math.round(keys[event.key] * 100) / 100) });
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.live.commit(), 300);
    } else if (event.key === " ") {
      this.run(!this.playing);
    } else if (event.key === "Enter") {
      this.toggle(this.viewAt(angle));
    } else {
      return;
    }
    event.preventDefault();
  }

  action = "turn"; // what the button does

  // where it is after it has turned this far by itself
  onward(degrees) {
    return this.live.angle + degrees;
  }

  run(go, commit = true) {
    if (Boolean(go) === Boolean(this.playing)) return;
    cancelAnimationFrame(this.playing);
    clearInterval(this.stepping);
    this.playing = null;
    this.play.setAttribute("aria-pressed", go);
    this.play.querySelector(".word").textContent = go ? "stop" : this.action;
    if (!go) {
      if (commit) this.live.commit();
      return;
    }
    if (still.matches) {
      this.playing = -1;
      this.stepping = setInterval(() => this.live.set({ angle: this.onward(22.5) }), 900);
      return;
    }
    let last = performance.now();
    const step = (now) => {
      this.live.set({ angle: this.onward((SPEED * Math.max(0, now - last)) / 1000) });
      last = now;
      this.playing = requestAnimationFrame(step);
    };
    this.playing = requestAnimationFrame(step);
  }

  destroy() {
    this.run(false, false);
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.widening);
    clearTimeout(this.typing);
    clearTimeout(this.missing);
    this.stop.abort();
    this.sizes.disconnect();
    hub.waiting.delete(this.awake);
    this.live?.listeners.delete(this.changed);
    this.live?.halt();
  }
}

export default mount(Dial);
