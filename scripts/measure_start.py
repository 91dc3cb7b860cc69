"""How long each page takes to open on a warm server: python scripts/measure_start.py [--json]

Starts the app, visits every page once, then opens each in a fresh browser context (nothing cached)
several times. Prints median milliseconds from navigation to

    words     the title of the page
    controls  the first thing to press, move or choose in it
    picture   the first digit or chart drawn
    settled   the script has ended and nothing was drawn for half a second

and, because they depend less on what else the machine does,

    work      milliseconds of the processor that the page's main thread took until then
    kB        what it loaded

A Streamlit page of one word is the reference: what no page can go below. Pages take turns, so that
a busy moment of the machine is not one page's alone.

    --against FOLDER    other sources, say of an older commit (git worktree add FOLDER COMMIT):
                        both take turns, and what counts is the ratio of their medians
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser  # noqa: E402

from tests.browser import chromium, serve, settle  # noqa: E402
from ui.shell.frame import PAGES  # noqa: E402

BARE = "one word"
EXPECTED = {BARE: ["words"], "train": ["words", "controls"]}  # of the others all three
PATIENCE = 600_000  # milliseconds: a busy machine is not a failure
WHAT = ("words", "controls", "picture", "settled", "work", "kB")
LOADED = "() => performance.getEntriesByType('resource').reduce((n, e) => n + e.transferSize, 0)"
# Looks once a frame for what has come, also inside components.
PROBE = """(expected) => {
  const seen = (window.startTimes = {});
  const large = (node) => {
    const { width, height } = node.getBoundingClientRect();
    return width >= 28 && height >= 28;
  };
  const marks = {
    words: (node) => node.matches("h1, [data-testid=stMain] [data-testid=stMarkdownContainer] p"),
    controls: (node) =>
      node.matches("[data-testid=stMain] :is(input, button, [role=slider], [role=radio])"),
    picture: (node) =>
      (node.matches("[data-ready=yes], [data-drawn=yes], .js-plotly-plot .trace, .curves svg") ||
        (node.matches("img") && node.complete && node.naturalWidth > 0)) && large(node),
  };
  const look = (root, missing) => {
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) look(node.shadowRoot, missing);
      for (const name of missing) if (marks[name](node)) seen[name] ??= performance.now();
    }
  };
  let last = 0;
  new MutationObserver(() => (last = performance.now())).observe(document, {
    subtree: true, childList: true,
  });
  const frame = () => {
    const missing = Object.keys(marks).filter((name) => !(name in seen));
    if (missing.length) look(document, missing);
    const app = document.querySelector("[data-testid=stApp]");
    const come = expected.every((name) => name in seen);
    const ended = come && app?.dataset.testScriptState === "notRunning";
    if (!ended) last = Math.max(last, performance.now());
    if (ended && performance.now() - last > 500) return (seen.settled = last);
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""


def visit(browser: Browser, url: str, expected: Sequence[str]) -> dict[str, float]:
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    context.add_init_script(f"({PROBE})({json.dumps(expected)})")
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(url)
    page.wait_for_function("() => window.startTimes?.settled", timeout=PATIENCE)
    times = page.evaluate("() => startTimes")
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    times["work"] = 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")
    times["kB"] = page.evaluate(LOADED) / 1000
    context.close()
    return times


Found = dict[str, dict[str, float | None]]
OTHER = "/ other"  # the same page of the other sources


def measure(names: list[str], rounds: int, other: Path | None = None) -> Found:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        script = folder / "bare.py"
        script.write_text('import streamlit as st\n\nst.write("word")\n')
        app = stack.enter_context(serve(ROOT / "app.py", FGPVAE_RUNS=str(folder / "runs")))
        urls = {BARE: stack.enter_context(serve(script))}
        if other is None:
            urls |= {name: f"{app}/{name}" for name in names}
        else:
            runs = {"FGPVAE_RUNS": str(folder / "runs"), "PYTHONPATH": str(other)}
            before = stack.enter_context(serve(other / "app.py", root=other, **runs))
            for name in names:  # one after the other
                urls |= {name: f"{app}/{name}", f"{name} {OTHER}": f"{before}/{name}"}
        browser = stack.enter_context(chromium())
        for url in urls.values():
            page = browser.new_page()
            page.goto(url)
            settle(page, PATIENCE)
            page.close()
        found: dict[str, list[dict[str, float]]] = {name: [] for name in urls}
        for _ in range(rounds):
            for name, url in urls.items():
                expected = EXPECTED.get(name.removesuffix(f" {OTHER}"), WHAT[:3])
                found[name].append(visit(browser, url, expected))
    return {
        name: {
            what: round(median(times), 0) if times else None
            for what in WHAT
            for times in [[each[what] for each in visits if what in each]]
        }
        for name, visits in found.items()
    }


def main() -> None:
    names = [name for name, _ in PAGES]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", nargs="+", choices=names, default=names)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--against", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    found = measure(options.pages, options.rounds, options.against and options.against.resolve())
    if options.json:
        print(json.dumps(found))
        return
    print(f"{'':20}" + "".join(f"{what:>10}" for what in WHAT))
    for name, times in found.items():
        cells = (f"{'–' if each is None else f'{each:.0f}':>10}" for each in times.values())
        print(f"{name:20}" + "".join(cells))
        if name.endswith(OTHER):
            print(f"{'ratio':20}" + "".join(ratios(found[name.removesuffix(f" {OTHER}")], times)))


def ratios(times: dict[str, float | None], others: dict[str, float | None]) -> list[str]:
    """Of these to the others, a cell each."""
    pairs = [(times[what], others[what]) for what in WHAT]
    return [f"{a / b:>10.2f}" if a and b else f"{'–':>10}" for a, b in pairs]


if __name__ == "__main__":
    main()
