// A digit drawn by one model: its code as a function of the angle, the decoder and a canvas.
import { clamp, floats } from "../shared/maths.js";
import { hub } from "../shared/pose.js";
import { Decoder } from "./decoder.js";
import { Curves } from "./shapes.js";

const ENLARGE = 8;
const KEPT = 8; // the newest decoders; the browser's cache has the others
const BASE = import.meta.url.split("/scripts/")[0]; // address of the server, below any path of a proxy
const coming = new Map(); // decoders that are being loaded

export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const packed = buffer.slice(4 + length);
  return { header, weights: header.half ? floats(packed) : new Float32Array(packed) };
}

async function fetched(id) {
  const answer = await fetch(`${BASE}/weights/${id}`);
  if (!answer.ok) return false; // the server was restarted or has dropped it
  hub.networks.set(id, unpack(await answer.arrayBuffer()));
  for (const each of hub.networks.keys()) if (hub.networks.size > KEPT) hub.networks.delete(each);
  return true;
}

// Load a decoder for all dials of the page; resolves to false if the server does not have it.
export async function load(id) {
  if (hub.networks.has(id)) return true;
  if (!coming.has(id)) coming.set(id, fetched(id).catch(() => false).finally(() => coming.delete(id)));
  return coming.get(id);
}

// four [index, weight] of a Catmull-Rom spline for each pixel of an enlarged side
function taps(size, factor) {
  return Array.from({ length: size * factor }, (_, at) => {
    const t = (at + 0.5) / factor - 0.5;
    const start = Math.floor(t);
    const f = t - start;
    const weights = [((2 - f) * f - 1) * f, (3 * f - 5) * f * f + 2, ((4 - 3 * f) * f + 1) * f, (f - 1) * f * f];
    return weights.map((weight, k) => [clamp(start - 1 + k, 0, size - 1), weight / 2]);
  });
}

// enlarge rows [n, size] -> [enlarged size, n]
function stretched(rows, size, columns) {
  const count = rows.length / size;
  const out = new Float64Array(columns.length * count);
  columns.forEach(([[a, k0], [b, k1], [c, k2], [d, k3]], column) => {
    for (let row = 0; row < count; row++) {
      const at = row * size;
      out[column * count + row] = k0 * rows[at + a] + k1 * rows[at + b] + k2 * rows[at + c] + k3 * rows[at + d];
    }
  });
  return out;
}

// Enlarges a picture by a whole factor, smoothly and without overshoot.
export class Enlarger {
  constructor(shape, factor) {
    const [, height, width] = shape;
    this.shape = shape;
    this.columns = taps(width, factor);
    this.rows = taps(height, factor);
    this.image = new ImageData(width * factor, height * factor);
    this.image.data.fill(255);
  }

  run(picture) {
    const [channels, height, width] = this.shape;
    const { data } = this.image;
    for (let c = 0; c < channels; c++) {
      const plane = picture.subarray(c * height * width, (c + 1) * height * width);
      const large = stretched(stretched(plane, width, this.columns), height, this.rows);
      large.forEach((value, k) => {
        data[4 * k + c] = 255 * value; // clamped to 0..255 and rounded by its type
        if (channels === 1) data[4 * k + 1] = data[4 * k + 2] = data[4 * k];
      });
    }
    return this.image;
  }
}

export class Picture {
  constructor(canvas, shape) {
    Object.assign(this, { canvas, shape, paper: canvas.getContext("2d", { alpha: false }) });
  }

  // set a digit's scene, from the server or a posterior in the browser; it is drawn once the weights are loaded
  show(scene) {
    this.scene = scene;
    this.series = scene && (scene.code.at ? scene.code : new Curves(this.shape, scene.code));
  }

  // connect to the decoder; false while its weights are missing
  connect() {
    const entry = this.scene && hub.networks.get(this.scene.network);
    this.decoder = entry && (entry.decoder ??= new Decoder(entry));
    if (!entry) return !this.scene;
    if (`${this.enlarger?.shape}` !== `${this.decoder.shape}`) {
      this.enlarger = new Enlarger(this.decoder.shape, ENLARGE);
      const { width, height } = this.enlarger.image;
      Object.assign(this.canvas, { width, height });
    }
    return true;
  }

  // pixels at an angle of the dial; the array is reused by the next call
  decode(angle, style) {
    const code = this.series.at(this.shape.toModel(angle, this.scene.frequency));
    this.scene.styles.forEach((input, g) => (code[input] = style[g]));
    return this.decoder.run(code);
  }

  // The style with which this second picture follows the first: the first one's changes of shared properties, along
  // this model's own directions.
  following(style, own) {
    const followed = [...this.scene.own];
    for (const { reading, direction } of this.scene.follow) {
      const step = reading.reduce((sum, each, g) => sum + each * (style[g] - own[g]), 0);
      direction.forEach((each, g) => (followed[g] += step * each));
    }
    return followed;
  }

  draw(angle, style) {
    this.image = this.enlarger.run(this.decode(angle, style));
    this.paper.putImageData(this.image, 0, 0);
  }
}
