// Serves the Plotly chart in the same container, also when Streamlit draws it anew.
import { mount } from "../shared/mount.js";
import { Live } from "./live.js";
import { offer } from "./save.js";
import { ink } from "./scene.js";

class Tools {
  constructor(root) {
    const host = root.getRootNode().host ?? root;
    this.place = host.closest('[class*="-place"]');
    this.live = new Live();
    this.again = () => this.serve();
    this.watch = new MutationObserver(this.again);
    this.watch.observe(this.place, { subtree: true, childList: true });
  }

  update(data) {
    this.data = data;
    this.serve();
  }

  serve() {
    const chart = this.place.querySelector(".js-plotly-plot");
    if (!chart?.querySelector(".modebar") || !window.Plotly) return;
    this.follow(chart);
    offer(chart, this.data.file);
    ink(chart);
    if (this.data.figure) this.live.show(chart, this.data.figure, this.data.alt);
  }

  // Streamlit may give a chart its layout anew without a change of the document.
  follow(chart) {
    this.leave();
    this.chart = chart;
    chart.on("plotly_afterplot", this.again);
  }

  leave() {
    this.chart?.removeListener?.("plotly_afterplot", this.again);
  }

  destroy() {
    this.watch.disconnect();
    this.leave();
  }
}

export default mount((root) => new Tools(root));
