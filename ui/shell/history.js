// Entries of the history: another page, or another value of a parameter in STEPS. By default Streamlit adds an
// entry for everything that a page writes into its address, such as each angle of the dial.
{
  const STEPS = ["model", "run", "screen"];
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  let clicked = location.href; // the address at the last click
  history.pushState = (state, title, url) => {
    const to = new URL(url ?? location.href, location.href);
    const from = new URLSearchParams(location.search);
    const moved = STEPS.some((name) => {
      const [before, after] = [from.get(name), to.searchParams.get(name)];
      return before !== null && after !== null && before !== after;
    });
    const left = to.pathname !== location.pathname;
    // parameters of the next page arrive before its path and do not belong here
    if (left && new URL(clicked).pathname === location.pathname) replace(history.state, "", clicked);
    (moved || left ? push : replace)(state, title, url);
  };
  // Back and Forward: `back` makes the page read its choices from the address again
  addEventListener("popstate", () => {
    const address = new URL(location.href);
    address.searchParams.set("back", Date.now());
    replace(history.state, "", address);
  });
  const menu = "[data-testid=stSidebar] [data-testid=stPageLink-NavLink]";
  addEventListener("click", ({ target }) => {
    clicked = location.href;
    if (!target.closest?.(menu) || !matchMedia("(max-width: 768px)").matches) return;
    document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click(); // a phone's menu
  }, true);
}
