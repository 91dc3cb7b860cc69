// Serves the Plotly chart in the same container, also when Streamlit draws it anew: buttons that save it, and figures
// that replace its own while the user's zoom stays.
import { element, mount } from "../shared/dom.js";

const FORMATS = { png: 2, svg: 1 }; // pixels in the file per pixel on the screen
const AXIS = /^[xy]axis\d*$/;

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

// add a button for each format to the mode bar
function offer(chart, file) {
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

// Labels of a chart in three dimensions are drawn as pixels without CSS: set the page's colour.
function ink(chart) {
  const colour = getComputedStyle(chart).color;
  const { scene } = chart.layout;
  if (!scene || scene.xaxis?.tickfont?.color === colour) return;
  const parts = ["x", "y", "z"].flatMap((axis) => [
    [`scene.${axis}axis.tickfont.color`, colour],
    [`scene.${axis}axis.title.font.color`, colour],
  ]);
  window.Plotly.relayout(chart, Object.fromEntries(parts));
}

const axes = (layout) => Object.keys(layout).filter((name) => AXIS.test(name));
// copies, because Plotly writes into the ranges it gets
const ranges = (layout) =>
  Object.fromEntries(axes(layout).map((name) => [name, layout[name].range?.slice()]));
const same = (one, other) =>
  one === other || (one && other && one.every((value, k) => Math.abs(value - other[k]) < 1e-9));

// The new layout in the theme of the old one. An axis was moved by the user, and is not changed, if its range is
// neither Plotly's choice, nor the first one (restored by a double click), nor the newest.
function merged(old, next, first, newest) {
  const layout = { ...old, ...next };
  for (const name of ["template", "width", "height"]) layout[name] = old[name];
  for (const name of axes(next)) {
    const { range, autorange } = old[name] ?? {};
    const moved = range && !autorange && !same(range, first[name]) && !same(range, newest[name]);
    if (moved) layout[name] = { ...next[name], range, autorange };
  }
  return layout;
}

class Tools {
  constructor(root) {
    this.host = root.getRootNode().host ?? root;
    this.again = () => this.serve();
    this.watch = new MutationObserver(this.again);
  }

  update(data) {
    this.data = data;
    // missing for a moment on leaving the page: Streamlit gives the container to the next one
    this.place = this.host.closest('[class*="-place"]');
    this.watch.disconnect();
    if (this.place) this.watch.observe(this.place, { subtree: true, childList: true });
    this.serve();
  }

  serve() {
    const chart = this.place?.querySelector(".js-plotly-plot");
    if (!chart?.querySelector(".modebar") || !window.Plotly) return;
    // Streamlit may reset a chart's layout without a change of the document.
    this.leave();
    this.chart = chart;
    chart.on("plotly_afterplot", this.again);
    offer(chart, this.data.file);
    ink(chart);
    if (this.data.figure) this.replace(chart, this.data);
  }

  replace(chart, { figure, alt }) {
    if (this.replaced !== chart) {
      Object.assign(this, { replaced: chart, figure: null });
      this.first = this.newest = ranges(chart.layout);
    }
    if (this.figure === figure) return;
    this.figure = figure;
    const { data, layout } = JSON.parse(figure);
    const next = merged(chart.layout, layout, this.first, this.newest);
    this.newest = ranges(layout);
    window.Plotly.react(chart, data, next);
    chart.emit("plotly_redraw"); // Streamlit's element reads the figure of the chart
    chart.closest("[role=figure]")?.setAttribute("aria-label", alt);
  }

  leave() {
    this.chart?.removeListener?.("plotly_afterplot", this.again);
  }

  destroy() {
    this.watch.disconnect();
    this.leave();
  }
}

export default mount(Tools);
