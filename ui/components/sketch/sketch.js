const drawn = new WeakMap();
export default function ({ data: [data], parentElement }) {
  const box = parentElement.querySelector(".sketch");
  if (drawn.get(box) !== data.svg) box.innerHTML = data.svg;
  drawn.set(box, data.svg);
  box.style.maxWidth = data.width ? `${data.width}px` : "";
  box.style.margin = "0 auto";
}
