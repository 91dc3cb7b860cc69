// The laboratory in one file: computes here what the app's server computes there.
import canvas from "../canvas/canvas.js";
import { chain, run, times } from "../dial/decoder.js";
import dial from "../dial/dial.js";
import { Picture } from "../dial/picture.js";
import { circle, Curves } from "../dial/shapes.js";
import { bytes, clamp, floats, gaussian, radians, turned, unpacked } from "../shared/maths.js";
import { hub, poseOf } from "../shared/pose.js";
import { Posterior } from "../shared/posterior.js";
import styleSliders from "../style_sliders/style_sliders.js";
import tiles from "../tiles/tiles.js";
import { digit } from "./digit.js";

const WIDTH = 1 / 12; // width of a stroke, as in the app
const [SAMPLES, STEPS] = [8, 47]; // sampled paths of a film, points of each
const START = 13; // index of the first digit shown, a three
const WIDTHS = 120; // places where a ring or track has a width
const DIGIT = { thing: "digit", disc: true, scale: { low: 0, high: 360, degrees: true } };
const WIDEST = 0.3; // error of a pixel at which the ring is widest, as in the app
const WARM = "#e4572e";
const FLOOR = 1e-6; // lower bound of a variance, as in networks/standard.py
const $ = (id) => document.getElementById(id);
const root = (id) => $(id).shadowRoot;
let content;

// even places of a line
const along = (count) => Array.from({ length: count }, (_, k) => (2 * k) / (count - 1) - 1);

// The layers and weights of a network, as fgpvae.browser.site writes them: whole numbers, deflated, and a scale for
// each row.
async function network(name) {
  const { header, sizes, scales } = content.networks[name];
  const text = $(`${name}-weights`).textContent;
  const inflated = new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const [all, scale] = [await new Response(inflated).arrayBuffer(), unpacked(scales)];
  const weights = new Float32Array(sizes.reduce((sum, [rows, columns]) => sum + rows * columns, 0));
  let [from, to, at] = [0, 0, 0];
  for (const [rows, columns, size] of sizes) {
    const end = from + size * rows * columns;
    const levels = new (size === 1 ? Int8Array : Int16Array)(all.slice(from, end));
    levels.forEach((level, k) => (weights[to + k] = level * scale[at + Math.floor(k / columns)]));
    [from, to, at] = [end, to + levels.length, at + rows];
  }
  return { header, weights };
}

// The encoder: an image [H * W] at an angle -> means and variances [L], local channels first. For the global channels
// the features of the image are turned back by the angle.
function encoder({ header: { layers: [{ first, local, style, harmonics }] }, weights }) {
  const [features, plain, rotated] = [first, local, style].map((layers) => chain(layers, weights));
  return (image, angle) => {
    const seen = run(features, image).slice();
    const angles = Array.from({ length: seen.length / 2 }, (_, k) => angle * (k % harmonics));
    const turned = times(seen, Float64Array.of(...angles.map(Math.cos), ...angles.map(Math.sin)));
    const parts = [run(plain, seen), run(rotated, turned)];
    const join = (from, to) => parts.flatMap((each) => Array.from(each.subarray(from * each.length, to * each.length)));
    return { mean: join(0, 0.5), variance: join(0.5, 1).map((log) => Math.exp(clamp(log, -20, 20)) + FLOOR) };
  };
}

// a model: its kernel, mean function and number of channels, as the posterior takes them
function prepared(model) {
  return { ...model, mean: model.mean && new Curves(circle, { shape: [model.local], values: model.mean }) };
}

// encoded views [{ w, mean, variance }] of a subject of the page
function encoded({ w, latents }, { views }) {
  const numbers = floats(bytes(views).buffer);
  return w.map((at, q) => {
    const from = 2 * latents * q;
    const mean = numbers.slice(from, from + latents);
    return { w: at, mean, variance: numbers.slice(from + latents, from + 2 * latents).map(Math.exp) };
  });
}

// what a dial draws from: a posterior, where the app sends a Fourier series
function scene(model, posterior, name) {
  const styles = posterior.style.map((_, g) => model.local + g);
  return { network: name, code: posterior, frequency: 1, styles, own: posterior.style };
}

// One subject on a dial or a track. A click on a dot gives a view to the posterior or takes it away.
class Stage {
  constructor(key, id, model, name, fixed) {
    Object.assign(this, { key, id, model, name, fixed, count: 0 });
  }

  show(subject, views, observed) {
    const { model, key } = this;
    this.posterior = new Posterior(model, views.filter((_, q) => observed[q]));
    const line = model.kernel.kind !== "periodic";
    const { angle } = poseOf(key);
    const data = {
      ...scene(model, this.posterior, this.name),
      key,
      subject,
      line,
      scene: `${key}${this.count++}`,
      pose: { revision: subject, angle: angle || (line ? 30 : 0), style: null },
      observed,
      angles: views.map(({ w }) => (line ? 50 * (w + 1) : turned(Math.round((w * 18000) / Math.PI) / 100))),
      cycle: content.colours[line ? "line" : "circle"],
      // the expected error of a digit is the same at all angles
      widths: along(WIDTHS).map((w) => (line ? this.posterior.unknown(w) : content.doubt / WIDEST)),
      trails: line ? this.trails() : null,
      heldOut: [],
      heldOutText: "",
      heldOutColour: WARM,
      editable: true,
      size: 470,
      name: "",
      beside: null,
      ...this.fixed,
    };
    const took = (name, { value, sent }) => {
      this.answered = sent;
      if (name === "context") this.show(subject, views, views.map((_, q) => value.indices.includes(q)));
    };
    dial({ data: [data, this.answered], parentElement: root(this.id), setStateValue: took });
    this.changed?.();
  }

  // the mean path and samples, as shares of the picture: [1 + SAMPLES, STEPS, 2]
  trails() {
    const places = along(STEPS);
    const mean = places.map((w) => [...this.posterior.at(w).subarray(0, 2)]);
    const draw = this.posterior.sampler(places);
    const drawn = Array.from({ length: SAMPLES }, () => draw([0, 1].map(() => places.map(gaussian))));
    const { header, weights: all } = hub.networks.get(this.name);
    const [{ centre, log_reach: reach, shape }] = header.layers;
    const sides = [shape[2], shape[1]];
    const place = (z, k) => 0.5 + (all[centre[0] + k] + Math.exp(all[reach[0] + k]) * Math.tanh(z)) / sides[k];
    return { shape: [1 + SAMPLES, STEPS, 2], values: [mean, ...drawn].flat().flatMap((at) => at.map(place)) };
  }
}

function gallery(id, label, { subjects }, selected, second, picked) {
  const shown = subjects.map(({ name, image }, k) => ({
    name: `${k}`,
    image,
    hint: name,
    selected: k === selected,
    second: k === second,
    badge: second === null ? "" : { [selected]: "A", [second]: "B" }[k] ?? "",
  }));
  const data = { layout: "gallery", label, single: false, tiles: shown };
  tiles({ data: [data], parentElement: root(id), setTriggerValue: (_, { value }) => picked(Number(value)) });
}

// --- rotate ---

function rotate(model) {
  const stage = new Stage("rotate", "dial", model, "decoder", DIGIT);
  const only = (k) => model.w.map((_, q) => k.includes(q));
  const all = (k) => encoded(model, model.subjects[k]);
  const pictures = ["swap-b", "swap-ab"].map((id) => new Picture($(id), circle));
  let [a, b, choosing] = [START, null, "a"];
  let other;
  const draw = () => {
    if (!other) return;
    const { angle } = poseOf("rotate");
    [other.style, poseOf("rotate").values()].forEach((style, k) => pictures[k].draw(angle, style));
  };
  const sliders = () => {
    const { name } = model.subjects[b ?? a];
    const morph = other && { name: `To B, ${name}`, style: other.style };
    const data = { ...content.sliders, own: stage.posterior.style, morph };
    styleSliders({ data: [data], parentElement: root("sliders") });
    draw();
  };
  const choose = (k) => {
    if (choosing === "a") {
      a = k;
      stage.show(`digit ${k}`, all(k), only(model.first));
    } else {
      b = k;
      other = new Posterior(model, all(k).filter((_, q) => model.first.includes(q)));
      for (const picture of pictures) {
        picture.show(scene(model, other, "decoder"));
        picture.connect();
      }
      $("swap").hidden = false;
    }
    sliders();
    gallery("gallery", "Digits that the model was not trained on", model, a, b, choose);
  };
  for (const each of ["a", "b"]) {
    $(`pick-${each}`).addEventListener("click", () => {
      choosing = each;
      for (const name of ["a", "b"]) $(`pick-${name}`).ariaPressed = String(name === choosing);
    });
  }
  poseOf("rotate").watchers.add(draw);
  stage.changed = sliders;
  choose(a);
}

// --- draw ---

function drawing(model, encode) {
  const stage = new Stage("draw", "drawn", model, "decoder", DIGIT);
  let views = []; // those added before the current drawing
  let strokes = [];
  let [sheet, drawings] = [0, 0];
  const paper = () => {
    const data = { strokes, width: WIDTH, sheet: sheet++, thing: "digit", margin: 0, dial: "draw" };
    canvas({ data: [data], parentElement: root("canvas"), setTriggerValue: (_, { value }) => took(value.strokes) });
  };
  const show = () => {
    const now = [...views];
    if (strokes.length) {
      const w = radians(turned($("turned").valueAsNumber || 0));
      const image = digit(strokes, WIDTH, w);
      now.push({ w, image, ...encode(image, w) });
      const pixels = new ImageData(28, 28);
      image.forEach((value, k) => pixels.data.set([255 * value, 255 * value, 255 * value, 255], 4 * k));
      $("seen").getContext("2d").putImageData(pixels, 0, 0);
    }
    $("add").disabled = !strokes.length;
    $("again").disabled = $("drawn").hidden = !now.length;
    $("views").textContent = `As the model gets it, 28 x 28 pixels. Views: ${now.length}.`;
    if (now.length) stage.show(`drawing ${drawings}`, now, now.map(() => true));
    return now;
  };
  const took = (made) => {
    strokes = made;
    show();
  };
  const clean = (kept, degrees) => {
    [views, strokes] = [kept, []];
    $("turned").value = degrees;
    paper();
    show();
  };
  $("turned").addEventListener("input", show);
  $("add").addEventListener("click", () => clean(show(), turned($("turned").valueAsNumber + 90)));
  $("again").addEventListener("click", () => {
    drawings++;
    clean([], 0);
  });
  paper();
}

// --- films ---

function films(model) {
  const scale = { low: 1, high: model.w.length, degrees: false };
  const stage = new Stage("films", "track", model, "films", { thing: "film", disc: false, scale });
  const choose = (k) => {
    stage.show(`film ${k}`, encoded(model, model.subjects[k]), model.w.map((_, q) => model.first.includes(q)));
    gallery("reel", "Films of digits", model, k, null, choose);
  };
  choose(2);
}

export async function start() {
  content = JSON.parse($("content").textContent);
  const model = prepared(content.rotate);
  hub.networks.set("decoder", await network("decoder"));
  rotate(model);
  // draw the first digit before the other sections are built
  await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  drawing(model, encoder(await network("encoder")));
  hub.networks.set("films", await network("films"));
  films(prepared(content.films));
  document.body.dataset.ready = "yes";
}
