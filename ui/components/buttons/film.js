// A film of one turn, or from end to end: drawn large, and recorded by the browser as WebM, or as MP4 where it has that.
import { Enlarger } from "../dial/picture.js";
import { element, mount } from "../shared/dom.js";
import { poseOf } from "../shared/pose.js";

const SECONDS = 6; // a turn
const RATE = 30; // pictures a second
const SIDE = 720; // pixels, about
const BITS = 6e6; // a second
const KINDS = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];

async function record(pictures, start, progress) {
  const type = KINDS.find((each) => MediaRecorder.isTypeSupported(each));
  if (!type) throw new Error("this browser records no film");
  const enlargers = pictures.map(({ picture: { decoder } }) => {
    const [, height, width] = decoder.shape;
    return new Enlarger(decoder.shape, 2 * Math.max(1, Math.round(SIDE / 2 / Math.max(width, height)))); // even
  });
  const canvas = element("canvas", {
    width: enlargers.reduce((sum, each) => sum + each.image.width, 0),
    height: Math.max(...enlargers.map((each) => each.image.height)),
  });
  const paper = canvas.getContext("2d", { alpha: false });
  const draw = (share) => {
    let left = 0;
    pictures.forEach(({ picture, style }, k) => {
      const image = enlargers[k].run(picture.decode(picture.shape.along(start, share), style));
      paper.putImageData(image, left, 0);
      left += image.width;
    });
  };
  draw(0);
  const recorder = new MediaRecorder(canvas.captureStream(RATE), { mimeType: type, videoBitsPerSecond: BITS });
  const parts = [];
  recorder.addEventListener("dataavailable", (event) => parts.push(event.data));
  const done = new Promise((resolve) => recorder.addEventListener("stop", resolve));
  recorder.start();
  const began = performance.now();
  for (let share = 0; share < 1; ) {
    await new Promise((resolve) => setTimeout(resolve, 1000 / RATE)); // hidden tabs have no animation frames
    share = Math.min(1, (performance.now() - began) / (1000 * SECONDS));
    draw(share);
    progress(share);
  }
  recorder.stop();
  await done;
  return new Blob(parts, { type: type.split(";")[0] });
}

class FilmButton {
  constructor(root, { key }) {
    const button = root.querySelector("button");
    const word = button.textContent;
    const live = poseOf(key);
    button.addEventListener("click", async () => {
      if (!live.picture?.decoder) return;
      const pictures = [{ picture: live.picture, style: Array.from(live.values()) }];
      if (live.beside) pictures.push({ picture: live.beside, style: live.beside.scene.own });
      const say = (share) => (button.textContent = `${Math.round(100 * share)}%`);
      button.disabled = true;
      try {
        const film = await record(pictures, live.angle, say);
        const href = URL.createObjectURL(film);
        element("a", { href, download: `${this.name}.${film.type === "video/mp4" ? "mp4" : "webm"}` }).click();
        setTimeout(() => URL.revokeObjectURL(href), 60_000);
        button.textContent = word;
      } catch (error) {
        button.textContent = `No film: ${error.message}`;
      }
      button.disabled = false;
    });
  }

  update({ name }) {
    this.name = name;
  }
}

export default mount(FilmButton);
