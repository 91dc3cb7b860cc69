// Copies the address of the page; where a browser does not allow it, selects it to be copied by hand.
import { mount } from "../shared/mount.js";

class CopyLink {
  constructor(root) {
    this.button = root.querySelector("button");
    this.address = root.querySelector("input");
    this.word = this.button.textContent;
    this.button.setAttribute("aria-live", "polite");
    this.button.addEventListener("click", () => this.copy());
    this.address.addEventListener("blur", () => (this.address.hidden = true));
  }

  update() {}

  async copy() {
    const { href } = location;
    let copied = false;
    try {
      await navigator.clipboard.writeText(href); // there is no clipboard without https
      copied = true;
    } catch {
      copied = this.select(href);
    }
    this.say(copied ? "Copied" : "Press Ctrl+C");
  }

  // true if the browser copied what was selected
  select(href) {
    this.address.hidden = false;
    this.address.value = href;
    this.address.focus();
    this.address.select();
    const copied = document.execCommand("copy");
    if (copied) this.address.hidden = true;
    return copied;
  }

  say(text) {
    this.button.textContent = text;
    clearTimeout(this.saying);
    this.saying = setTimeout(() => (this.button.textContent = this.word), 2500);
  }

  destroy() {
    clearTimeout(this.saying);
  }
}

export default mount((root) => new CopyLink(root));
