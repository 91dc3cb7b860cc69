// Labels of a chart in three dimensions are pixels, which no CSS reaches: they get the page's colour.
export function ink(chart) {
  const colour = getComputedStyle(chart).color;
  const { scene } = chart.layout;
  if (!scene || scene.xaxis?.tickfont?.color === colour) return;
  const parts = ["x", "y", "z"].flatMap((axis) => [
    [`scene.${axis}axis.tickfont.color`, colour],
    [`scene.${axis}axis.title.font.color`, colour],
  ]);
  window.Plotly.relayout(chart, Object.fromEntries(parts));
}
