// A digit as one model draws it: its code along the angle, the decoder, and a canvas.
import { known } from "../decoders/decoders.js";
import { unpacked } from "../shared/packed.js";
import { Decoder } from "./decoder.js";
import { Enlarger } from "./enlarger.js";

const ENLARGE = 8;

export class Picture {
  constructor(canvas, shape) {
    this.canvas = canvas;
    this.shape = shape;
    this.paper = canvas.getContext("2d", { alpha: false });
  }

  // what the server says of a digit; nothing is drawn before the weights are here, too
  show(scene) {
    const curves = ({ rows, values }) => new this.shape.Curves({ rows, values: unpacked(values) });
    this.scene = scene;
    this.series = scene && curves(scene.code);
    this.variance = scene?.variance && curves(scene.variance);
  }

  // to the decoder; false while its weights are missing
  connect() {
    const entry = this.scene && known(this.scene.network);
    this.decoder = entry && (entry.decoder ??= new Decoder(entry));
    if (!entry) return !this.scene;
    const [channels, height, width] = this.decoder.shape;
    const last = this.enlarger;
    if (last?.width !== width || last?.height !== height || last?.channels !== channels) {
      this.enlarger = new Enlarger(channels, height, width, ENLARGE);
      this.canvas.width = width * ENLARGE;
      this.canvas.height = height * ENLARGE;
    }
    return true;
  }

  // pixels at an angle of the dial; the array is reused by the next call
  decode(angle, style) {
    const code = this.series.at(this.shape.toModel(angle, this.scene.frequency));
    this.scene.styles.forEach((input, g) => (code[input] = style[g]));
    return this.decoder.run(code);
  }

  // The style in which this second picture follows the first: changes of the first, read in the
  // properties that both models can move, each along this model's own direction.
  following(style, own) {
    const followed = [...this.scene.own];
    for (const { reading, direction } of this.scene.follow) {
      const step = reading.reduce((sum, each, g) => sum + each * (style[g] - own[g]), 0);
      direction.forEach((each, g) => (followed[g] += step * each));
    }
    return followed;
  }

  // the share of the prior variance that the views have left at an angle: the ring's width
  unknown(angle) {
    if (!this.variance) return 0.2;
    const [left] = this.variance.at(this.shape.toModel(angle, this.scene.frequency));
    return Math.min(1, Math.max(0, left));
  }

  draw(angle, style) {
    this.pixels = this.decode(angle, style);
    this.image = this.enlarger.run(this.pixels);
    this.paper.putImageData(this.image, 0, 0);
  }
}
