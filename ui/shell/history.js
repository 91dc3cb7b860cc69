// What one can go back to: another page, or another value of a parameter in STEPS. By itself Streamlit
// keeps an entry for whatever a page writes into its address, such as every angle of the dial.
if (!window.fgpvaeHistory) {
  window.fgpvaeHistory = true;
  const STEPS = ["model", "run", "screen"];
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  history.pushState = (state, title, url) => {
    const to = new URL(url ?? location.href, location.href);
    const from = new URLSearchParams(location.search);
    const moved = STEPS.some((name) => {
      const [before, after] = [from.get(name), to.searchParams.get(name)];
      return before !== null && after !== null && before !== after;
    });
    (moved || to.pathname !== location.pathname ? push : replace)(state, title, url);
  };
}
