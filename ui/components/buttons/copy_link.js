// Copies the address of the page; where a browser does not allow it, shows it to be copied by hand.
import { mount, parts } from "../shared/dom.js";

class CopyLink {
  constructor(root) {
    const { action, lacking } = parts(root, "action", "lacking");
    const word = action.textContent;
    action.addEventListener("click", async () => {
      // there is no clipboard without https
      const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
      if (!copied) return prompt("The address of this page, with every choice in it:", location.href);
      lacking.textContent = document.querySelector(".st-key-shell-not_in_link")?.innerText ?? "";
      action.textContent = "Copied";
      clearTimeout(this.saying);
      this.saying = setTimeout(() => (action.textContent = word), 2500);
    });
  }
}

export default mount(CopyLink);
