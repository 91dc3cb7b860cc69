// Pictures from the clipboard go to the uploader of the page, which knows how to send files.
import { mount } from "../shared/mount.js";

const KEYS = "or press Ctrl+V with a picture in the clipboard.";
const EMPTY = "The clipboard holds no picture.";
const CLOSED = "The browser does not let this page read the clipboard; press Ctrl+V instead.";

const within = (event, places) => event.composedPath().some((node) => node.matches?.(places));
const editable = (event) =>
  within(event, "input:not([type=file]), textarea") || event.composedPath().some((node) => node.isContentEditable);

class Paste {
  constructor(root) {
    this.button = root.querySelector(".button");
    this.said = root.querySelector(".said");
    this.button.hidden = !navigator.clipboard?.read;
    this.button.addEventListener("click", () => this.read());
    this.listen = (event) => this.pasted(event);
    document.addEventListener("paste", this.listen);
    this.say(KEYS, false);
  }

  update() {}

  destroy() {
    document.removeEventListener("paste", this.listen);
  }

  say(text, problem = true) {
    this.said.textContent = text;
    this.said.classList.toggle("problem", problem);
  }

  pasted(event) {
    if (editable(event)) return;
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length && within(event, "[data-testid=stFileUploaderDropzone]")) return; // it takes them itself
    event.preventDefault();
    this.give(files);
  }

  async read() {
    let items;
    try {
      items = await navigator.clipboard.read();
    } catch (error) {
      // refused by the person or the browser
      return this.say(error.name === "NotAllowedError" ? CLOSED : EMPTY);
    }
    const files = [];
    for (const item of items) {
      const type = item.types.find((each) => each.startsWith("image/"));
      if (type) files.push(new File([await item.getType(type)], `pasted.${type.split("/")[1]}`, { type }));
    }
    this.give(files);
  }

  give(files) {
    const input = document.querySelector("[data-testid=stFileUploaderDropzoneInput]");
    if (!files.length || !input) return this.say(EMPTY);
    const given = new DataTransfer();
    for (const file of files) given.items.add(file);
    input.files = given.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    this.say(KEYS, false);
  }
}

export default mount((root) => new Paste(root));
