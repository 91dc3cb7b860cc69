// A film of one turn: drawn large, and recorded by the browser as WebM, or as MP4 where it has that.
import { mount } from "../shared/mount.js";
import { poseOf } from "../shared/pose.js";
import { Enlarger } from "../dial/enlarger.js";

const SECONDS = 6; // a turn
const RATE = 30; // pictures a second
const SIDE = 720; // pixels, about
const BITS = 6e6; // a second
const KINDS = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];

// Records pictures beside each other, each with a style, from the start all round.
export async function record(pictures, start, progress) {
  const type = KINDS.find((each) => MediaRecorder.isTypeSupported(each));
  if (!type) throw new Error("this browser records no film");
  const enlargers = pictures.map(({ picture }) => {
    const [channels, height, width] = picture.decoder.shape;
    return new Enlarger(channels, height, width, Math.max(2, Math.round(SIDE / Math.max(width, height))));
  });
  const canvas = document.createElement("canvas");
  const even = (value) => value + (value % 2); // as encoders want it
  canvas.width = even(enlargers.reduce((sum, each) => sum + each.image.width, 0));
  canvas.height = even(Math.max(...enlargers.map((each) => each.image.height)));
  const paper = canvas.getContext("2d", { alpha: false });
  const draw = (angle) => {
    let left = 0;
    pictures.forEach(({ picture, style }, k) => {
      const image = enlargers[k].run(picture.decode(angle, style));
      paper.putImageData(image, left, 0);
      left += image.width;
    });
  };
  draw(start);
  const recorder = new MediaRecorder(canvas.captureStream(RATE), { mimeType: type, videoBitsPerSecond: BITS });
  const parts = [];
  recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
  const done = new Promise((resolve) => recorder.addEventListener("stop", resolve));
  recorder.start();
  const began = performance.now();
  for (let share = 0; share < 1; ) {
    await new Promise((resolve) => setTimeout(resolve, 1000 / RATE)); // a hidden tab has no frames
    share = Math.min(1, (performance.now() - began) / (1000 * SECONDS));
    draw(start + 360 * share);
    progress(share);
  }
  recorder.stop();
  await done;
  return new Blob(parts, { type: type.split(";")[0] });
}

class FilmButton {
  constructor(root) {
    this.button = root.querySelector("button");
    this.word = this.button.textContent;
    this.button.addEventListener("click", () => this.film());
  }

  update(data) {
    this.data = data;
  }

  async film() {
    const live = poseOf(this.data.key);
    if (!live.picture?.decoder || this.button.disabled) return;
    const pictures = [{ picture: live.picture, style: Array.from(live.values()) }];
    if (live.beside) pictures.push({ picture: live.beside, style: live.beside.scene.own });
    this.button.disabled = true;
    try {
      const say = (share) => (this.button.textContent = `${Math.round(100 * share)}%`);
      const film = await record(pictures, live.angle, say);
      this.save(film);
      this.button.textContent = this.word;
    } catch (error) {
      this.button.textContent = `No film: ${error.message}`;
    }
    this.button.disabled = false;
  }

  save(film) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(film);
    link.download = `${this.data.name}.${film.type === "video/mp4" ? "mp4" : "webm"}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  destroy() {}
}

export default mount((root) => new FilmButton(root));
