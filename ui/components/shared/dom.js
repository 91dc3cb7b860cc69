// Create an element with these properties and this content.
export function element(tag, properties = {}, ...content) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...content);
  return made;
}

// The elements of these classes below a root, each under its class.
export function parts(root, ...classes) {
  return Object.fromEntries(classes.map((name) => [name, root.querySelector(`.${name}`)]));
}

// Listen to some events of an element.
export function listen(target, acts) {
  for (const [name, act] of Object.entries(acts)) target.addEventListener(name, act);
}

// The drawing context of a canvas of this size in CSS pixels, at the resolution of the screen.
export function sharp(canvas, width, height) {
  const scale = Math.min(3, devicePixelRatio || 1);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  return pen;
}
