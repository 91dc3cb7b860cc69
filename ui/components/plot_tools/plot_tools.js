// Serves the Plotly chart in the same container, also when Streamlit draws it anew.
import { mount } from "../shared/mount.js";
import { Live } from "./live.js";
import { offer } from "./save.js";

class Tools {
  constructor(root) {
    this.host = root.getRootNode().host ?? root;
    this.live = new Live();
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
    if (this.data.figure) this.live.show(chart, this.data.figure, this.data.alt);
  }

  leave() {
    this.chart?.removeListener?.("plotly_afterplot", this.again);
  }

  destroy() {
    this.watch.disconnect();
    this.leave();
  }
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

export default mount((root) => new Tools(root));
