// The picture of the subject whose point of a chart is under the pointer.
import { element, mount } from "../shared/dom.js";

const SIDE = 84; // pixels of the picture
const AWAY = 18; // from the pointer

class HoverPicture {
  known = new WeakSet(); // charts

  constructor() {
    this.box = element("div", { className: "hover-picture", ariaHidden: "true" }); // the chart's label says the same
    this.box.style.cssText = `position: fixed; z-index: 999990; width: ${SIDE}px; display: none;
      pointer-events: none; border-radius: 10px; border: 1px solid #7a8194; overflow: hidden`;
    document.body.append(this.box);
    // Streamlit may redraw a chart at any time, so it is found again when the pointer is over it
    this.enter = ({ target }) => this.serve(target.closest?.(".js-plotly-plot"));
    document.addEventListener("pointerover", this.enter, true);
  }

  update(data) {
    this.data = data;
  }

  serve(chart) {
    if (!chart?.on || this.known.has(chart) || !this.data.charts.some((place) => chart.closest(place))) return;
    this.known.add(chart);
    const hide = () => (this.box.style.display = "none");
    chart.on("plotly_hover", (hover) => this.show(hover));
    chart.on("plotly_unhover", hide);
    chart.addEventListener("pointerleave", hide);
  }

  // pictures are stacked vertically: subject p is the p-th
  show({ points, event }) {
    const { strip, count, aspect } = this.data;
    const thing = points?.[0]?.customdata;
    if (!Number.isInteger(thing) || thing >= count || !event) return;
    const height = SIDE * aspect;
    const left = event.clientX - SIDE - AWAY; // Plotly's label is to the right
    this.box.dataset.thing = thing;
    Object.assign(this.box.style, {
      display: "block",
      left: `${left > 4 ? left : event.clientX + AWAY}px`,
      top: `${Math.min(event.clientY + AWAY, innerHeight - height - 4)}px`,
      height: `${height}px`,
      background: `#000 url(${strip}) 0 ${-height * thing}px / ${SIDE}px ${height * count}px`,
    });
  }

  destroy() {
    document.removeEventListener("pointerover", this.enter, true);
    this.box.remove();
  }
}

export default mount(HoverPicture);
