// Tells the server when the browser has painted what came before this component.
const HERE = new URL(import.meta.url).pathname;
const BASE = HERE.slice(0, HERE.indexOf("/_stcore/"));
const HIDDEN = 1000; // milliseconds: a tab that is not looked at paints no frame

let said = "";

const painted = () =>
  new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve)); // the first is before the painting
    setTimeout(resolve, HIDDEN);
  });

export default function ({ data: [{ word }] }) {
  if (!word || word === said) return;
  said = word;
  painted().then(() => fetch(`${BASE}/painted/${word}`, { method: "POST" }));
}
