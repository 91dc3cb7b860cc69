// Puts new figures into a chart that is there, and keeps what a hand has changed in it.
const AXIS = /^[xy]axis\d*$/;

const axes = (layout) => Object.keys(layout).filter((name) => AXIS.test(name));
// Copies: Plotly writes into the ranges it was given.
const ranges = (layout) =>
  Object.fromEntries(axes(layout).map((name) => [name, layout[name].range?.slice()]));
const same = (one, other) =>
  one === other || (one && other && one.every((value, k) => Math.abs(value - other[k]) < 1e-9));

// The new layout in the theme of the old one. An axis was moved by hand, and stays where it is, if
// its range is not Plotly's choice, nor the first one (to which a double click goes back), nor the
// newest.
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
    chart.emit("plotly_redraw"); // Streamlit's element takes over what the chart shows now
    chart.closest("[role=figure]")?.setAttribute("aria-label", alt);
  }
}
