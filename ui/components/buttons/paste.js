// Passes pictures from the clipboard to the uploader of the page.
import { mount, parts } from "../shared/dom.js";

const TOUCH = matchMedia("(pointer: coarse)").matches; // no keys
const KEYS = TOUCH ? "" : "or press Ctrl+V with a picture in the clipboard.";
const EMPTY = "The clipboard holds no picture.";
const CLOSED = `The browser does not let this page read the clipboard${TOUCH ? "" : "; press Ctrl+V instead"}.`;

const within = (event, places) => event.composedPath().some((node) => node.matches?.(places));
// text fields, and the uploader, which handles pasting itself
const EDITABLE = "input:not([type=file]), textarea, [contenteditable]";
const UPLOADER = "[data-testid=stFileUploaderDropzone]";

class Paste {
  constructor(root) {
    Object.assign(this, parts(root, "button", "said"));
    this.button.hidden = !navigator.clipboard?.read;
    this.button.addEventListener("click", () => this.read());
    this.listen = (event) => this.pasted(event);
    document.addEventListener("paste", this.listen);
    this.say(KEYS, false);
  }

  destroy() {
    document.removeEventListener("paste", this.listen);
  }

  say(text, problem = true) {
    this.said.textContent = text;
    this.said.classList.toggle("problem", problem);
  }

  pasted(event) {
    const files = [...(event.clipboardData?.files ?? [])];
    if (within(event, EDITABLE) || (files.length && within(event, UPLOADER))) return;
    event.preventDefault();
    this.give(files);
  }

  async read() {
    try {
      const files = [];
      for (const item of await navigator.clipboard.read()) {
        const type = item.types.find((each) => each.startsWith("image/"));
        if (type) files.push(new File([await item.getType(type)], `pasted.${type.split("/")[1]}`, { type }));
      }
      this.give(files);
    } catch (error) {
      // refused by the user or the browser
      this.say(error.name === "NotAllowedError" ? CLOSED : EMPTY);
    }
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

export default mount(Paste);
