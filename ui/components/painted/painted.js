// Tells the server when the browser has painted what came before this component.
import { BASE } from "../shared/server.js";

let said = "";

const come = () =>
  !document.querySelector("[data-testid=stSkeleton]") &&
  [...document.images].every((image) => image.complete);

// A tab that is not looked at has no frames, and nobody who waits for a picture.
const frame = () =>
  new Promise((resolve) => {
    if (document.hidden) resolve();
    requestAnimationFrame(resolve);
    document.addEventListener("visibilitychange", resolve, { once: true });
  });

async function tell(word) {
  while (!come() && !document.hidden) await frame();
  await frame(); // comes before the painting
  await frame();
  await fetch(`${BASE}/painted/${word}`, { method: "POST" });
}

export default function ({ data: [{ word }] }) {
  if (word === said) return;
  said = word;
  tell(word);
}
