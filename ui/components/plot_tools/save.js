// Two buttons in the mode bar of a chart: PNG and SVG.
import { element } from "../shared/dom.js";

const FORMATS = { png: 2, svg: 1 }; // pixels in the file per pixel on the screen

// A chart has no background; a file gets the one that its text was made for.
function ground(node) {
  for (let at = node; at; at = at.parentElement) {
    const { backgroundColor } = getComputedStyle(at);
    if (!/^(transparent|rgba\(.*, 0\))$/.test(backgroundColor)) return backgroundColor;
  }
  return "white";
}

// apply colours of labels that CSS sets on the screen
function inked(chart) {
  const text = JSON.stringify(chart.layout);
  const grey = chart.layout.template?.layout?.font?.color;
  return JSON.parse(grey ? text.replaceAll(grey, getComputedStyle(chart).color) : text);
}

function save(chart, format, filename) {
  const { data, clientWidth: width, clientHeight: height } = chart;
  const figure = { data, layout: { ...inked(chart), paper_bgcolor: ground(chart) } };
  return window.Plotly.downloadImage(figure, { format, filename, width, height, scale: FORMATS[format] });
}

export function offer(chart, file) {
  const bar = chart.querySelector(".modebar");
  if (bar.querySelector(".save")) return;
  const buttons = Object.keys(FORMATS).map((format) => {
    const name = format.toUpperCase();
    const className = "modebar-btn";
    const button = element("button", { type: "button", className, ariaLabel: `Save as ${name}` }, name);
    Object.assign(button.dataset, { title: `Save as ${name}`, gravity: "n" });
    button.style.cssText = "font: 600 11px sans-serif; color: inherit;";
    button.addEventListener("click", () => save(chart, format, file));
    return button;
  });
  bar.prepend(element("div", { className: "modebar-group save" }, ...buttons));
}
