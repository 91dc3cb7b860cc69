// A digit drawn by one model: its code as a function of the angle, the decoder and a canvas.
import { hub } from "../shared/pose.js";
import { Decoder } from "./decoder.js";
import { Enlarger } from "./enlarger.js";

const ENLARGE = 8;

export class Picture {
  constructor(canvas, shape) {
    this.canvas = canvas;
    this.shape = shape;
    this.paper = canvas.getContext("2d", { alpha: false });
  }

  // set a digit's scene, from the server or a posterior in the browser; it is drawn once the weights are loaded
  show(scene) {
    this.scene = scene;
    this.series = scene && (scene.code.at ? scene.code : new this.shape.Curves(scene.code));
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
    this.pixels = this.decode(angle, style);
    this.image = this.enlarger.run(this.pixels);
    this.paper.putImageData(this.image, 0, 0);
  }
}
