// Copies the address of the page; where a browser does not allow it, selects it to be copied by hand.
import { mount } from "../shared/mount.js";

class CopyLink {
  constructor(root) {
    this.button = root.querySelector("button");
    this.address = root.querySelector("input");
    this.lacking = root.querySelector("p");
    this.word = this.button.textContent;
    this.button.addEventListener("click", () => this.copy());
    this.address.addEventListener("blur", () => (this.address.hidden = true));
  }

  async copy() {
    const copied = await this.copied(location.href);
    this.lacking.textContent = document.querySelector(".st-key-shell-not_in_link")?.innerText ?? "";
    this.button.textContent = copied ? "Copied" : "Press Ctrl+C";
    clearTimeout(this.saying);
    this.saying = setTimeout(() => (this.button.textContent = this.word), 2500);
  }

  async copied(href) {
    try {
      await navigator.clipboard.writeText(href); // there is no clipboard without https
      return true;
    } catch {
      return this.select(href);
    }
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
}

export default mount((root) => new CopyLink(root));
