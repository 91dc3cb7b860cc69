import { mount } from "../shared/mount.js";

const SIDE = 84; // pixels of the picture
const AWAY = 18; // from the pointer

const STYLE = `position: fixed; z-index: 999990; width: ${SIDE}px; display: none;
  pointer-events: none; border-radius: 10px; border: 1px solid #7a8194; overflow: hidden; background: #000`;

// the pictures stand below each other: thing p is the p-th of them, turned counter-clockwise
function show(box, data, { points, event }) {
  const [thing, view] = points?.[0]?.customdata ?? [];
  if (!Number.isInteger(thing) || thing >= data.count || !event) return;
  const picture = box.firstChild;
  picture.style.backgroundImage = `url(${data.strip})`;
  const height = SIDE * data.aspect;
  box.style.height = `${height}px`;
  picture.style.backgroundSize = `${SIDE}px ${height * data.count}px`;
  picture.style.backgroundPosition = `0 ${-height * thing}px`;
  picture.style.transform = `rotate(${-(data.degrees[view] ?? 0)}deg)`;
  const left = event.clientX - SIDE - AWAY; // Plotly's label is to the right
  box.style.left = `${left > 4 ? left : event.clientX + AWAY}px`;
  box.style.top = `${Math.min(event.clientY + AWAY, innerHeight - height - 4)}px`;
  box.dataset.thing = thing;
  box.style.display = "block";
}

function start() {
  const box = document.createElement("div");
  box.className = "hover-picture";
  box.setAttribute("aria-hidden", "true"); // the chart's label says the same in words
  box.style.cssText = STYLE;
  const picture = document.createElement("div");
  picture.style.cssText = "width: 100%; height: 100%";
  box.append(picture);
  document.body.append(box);

  // Streamlit may draw a chart anew at any time, so it is looked for when the pointer is over it
  const known = new WeakSet();
  let data;
  const hide = () => { box.style.display = "none"; };
  const enter = (event) => {
    const chart = event.target.closest?.(".js-plotly-plot");
    if (!chart || known.has(chart) || !chart.on) return;
    if (!data.charts.some((place) => chart.closest(place))) return;
    known.add(chart);
    chart.on("plotly_hover", (hover) => show(box, data, hover));
    chart.on("plotly_unhover", hide);
    chart.addEventListener("pointerleave", hide);
  };
  document.addEventListener("pointerover", enter, true);
  return {
    update: (newest) => { data = newest; },
    destroy: () => {
      document.removeEventListener("pointerover", enter, true);
      box.remove();
    },
  };
}

export default mount(start);
