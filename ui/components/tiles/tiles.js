// Pictures to choose from: a strip of angles, a gallery of digits.
import { element, listen, mount } from "../shared/dom.js";

class Tiles {
  constructor(root) {
    this.box = root.querySelector(".tiles");
    listen(this.box, {
      click: (event) => this.choose(event.target.closest("button")),
      keydown: (event) => this.key(event),
    });
  }

  get buttons() {
    return [...this.box.children];
  }

  update(data) {
    this.data = data;
    this.box.className = `tiles ${data.layout}`;
    this.box.ariaLabel = data.label;
    this.box.style.setProperty("--count", data.tiles.length);
    while (this.box.children.length > data.tiles.length) this.box.lastChild.remove();
    while (this.box.children.length < data.tiles.length) this.box.append(this.make());
    data.tiles.forEach((tile, index) => this.fill(this.box.children[index], tile));
    this.reach(this.buttons.find((button) => button.ariaPressed === "true") ?? this.buttons[0]);
  }

  make() {
    const parts = ["bar", "text", "badge"].map((className) => element("span", { className }));
    return element("button", { type: "button" }, element("img", { alt: "", className: "shown" }), ...parts);
  }

  fill(button, tile) {
    const [image, bar, text, badge] = button.children;
    button.dataset.name = tile.name;
    button.ariaPressed = String(tile.selected);
    button.ariaLabel = button.title = tile.hint;
    button.className = `${tile.marked ? "marked" : ""} ${tile.second ? "second" : ""}`;
    if (image.getAttribute("src") !== tile.image) image.src = tile.image;
    bar.hidden = !tile.colour;
    bar.style.background = tile.colour;
    bar.classList.toggle("dot", tile.dot);
    for (const [part, content] of [[text, tile.text], [badge, tile.badge]]) {
      part.hidden = !content;
      part.textContent = content;
    }
  }

  // one tile is in the tab order, the arrow keys lead to the others
  reach(button) {
    for (const each of this.buttons) each.tabIndex = each === button ? 0 : -1;
  }

  choose(button) {
    if (!button) return;
    if (this.data.single) {
      for (const each of this.buttons) each.ariaPressed = String(each === button);
    }
    this.reach(button);
    this.trigger("picked", button.dataset.name);
  }

  key(event) {
    const at = this.buttons.indexOf(event.target.closest("button"));
    const last = this.buttons.length - 1;
    const [next, before] = [Math.min(at + 1, last), Math.max(at - 1, 0)];
    const keys = { ArrowRight: next, ArrowDown: next, ArrowLeft: before, ArrowUp: before, Home: 0, End: last };
    if (!(event.key in keys) || at < 0) return;
    event.preventDefault();
    this.reach(this.buttons[keys[event.key]]);
    this.buttons[keys[event.key]].focus();
  }
}

export default mount(Tiles);
