// Pictures to choose from: a strip of angles, a gallery of digits.
const boxes = new WeakMap();

class Tiles {
  constructor(root) {
    this.box = root.querySelector(".tiles");
    this.box.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) this.choose(button);
    });
    this.box.addEventListener("keydown", (event) => this.key(event));
  }

  get buttons() {
    return [...this.box.children];
  }

  update(data, send) {
    this.data = data;
    this.send = send;
    this.box.className = `tiles ${data.layout}`;
    this.box.setAttribute("aria-label", data.label);
    this.box.style.setProperty("--count", data.tiles.length);
    while (this.box.children.length > data.tiles.length) this.box.lastChild.remove();
    while (this.box.children.length < data.tiles.length) this.box.append(this.make());
    data.tiles.forEach((tile, index) => this.fill(this.box.children[index], tile));
    this.reach(this.buttons.find((button) => button.ariaPressed === "true") ?? this.buttons[0]);
  }

  make() {
    const button = document.createElement("button");
    button.type = "button";
    button.append(
      document.createElement("img"),
      Object.assign(document.createElement("span"), { className: "bar" }),
      Object.assign(document.createElement("span"), { className: "text" }),
      Object.assign(document.createElement("span"), { className: "badge" }),
    );
    return button;
  }

  fill(button, tile) {
    const [image, bar, text, badge] = button.children;
    button.dataset.name = tile.name;
    button.ariaPressed = String(tile.selected);
    button.ariaLabel = tile.hint;
    button.title = tile.hint;
    button.className = `${tile.marked ? "marked" : ""} ${tile.second ? "second" : ""}`;
    if (image.getAttribute("src") !== tile.image) image.src = tile.image;
    image.alt = "";
    bar.hidden = !tile.colour;
    bar.style.background = tile.colour;
    bar.classList.toggle("dot", tile.dot);
    text.hidden = !tile.text;
    text.textContent = tile.text;
    badge.hidden = !tile.badge;
    badge.textContent = tile.badge;
  }

  // one tile is in the order of the tab key, the arrows lead to the others
  reach(button) {
    for (const each of this.buttons) each.tabIndex = each === button ? 0 : -1;
  }

  choose(button) {
    if (this.data.single) {
      for (const each of this.buttons) each.ariaPressed = String(each === button);
    }
    this.reach(button);
    this.send(button.dataset.name);
  }

  key(event) {
    const at = this.buttons.indexOf(event.target.closest("button"));
    const last = this.buttons.length - 1;
    const to = {
      ArrowRight: Math.min(at + 1, last),
      ArrowDown: Math.min(at + 1, last),
      ArrowLeft: Math.max(at - 1, 0),
      ArrowUp: Math.max(at - 1, 0),
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    this.reach(this.buttons[to]);
    this.buttons[to].focus();
  }
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  if (!boxes.has(parentElement)) boxes.set(parentElement, new Tiles(parentElement));
  boxes.get(parentElement).update(data, (name) => setTriggerValue("picked", name));
}
