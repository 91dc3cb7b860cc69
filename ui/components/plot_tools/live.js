// Replaces the figure of a chart and keeps the user's zoom.
const AXIS = /^[xy]axis\d*$/;

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

export class Live {
  show(chart, text, alt) {
    if (this.chart !== chart) {
      this.chart = chart;
      this.text = null;
      this.first = this.newest = ranges(chart.layout);
    }
    if (this.text === text) return;
    this.text = text;
    const { data, layout } = JSON.parse(text);
    const next = merged(chart.layout, layout, this.first, this.newest);
    this.newest = ranges(layout);
    window.Plotly.react(chart, data, next);
    chart.emit("plotly_redraw"); // Streamlit's element reads the figure of the chart
    chart.closest("[role=figure]")?.setAttribute("aria-label", alt);
  }
}
