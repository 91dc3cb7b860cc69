"""How long it takes to start: python scripts/measure_start.py [--what import cold pages] [--json]

import  `import fgpvae` in a fresh process: seconds by the clock, and of the processor
cold    the first digit, from the start of the server on, with a browser that has nothing cached;
        also from the visit on, and seconds of the processor that the server took until then
pages   each page of a warm server, every time in a fresh browser context (nothing cached).
        Milliseconds from navigation to

    words     the title of the page
    controls  the first thing to press, move or choose in it
    picture   the first digit or chart drawn
    settled   the script has ended and nothing was drawn for half a second

        and, because they depend less on what else the machine does,

    work      milliseconds of the processor that the page's main thread took until then
    kB        what it loaded

        A Streamlit page of one word is the reference: what no page can go below.

All are medians. What is compared takes turns, so that a busy moment is not one's alone.

    --against COMMIT    an older commit, in a worktree of its own for the time, or a folder with
                        other sources: what counts is the ratio to it
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser  # noqa: E402

from tests.browser import chromium, serve, settle  # noqa: E402
from tests.sources import checked_out  # noqa: E402
from tests.stress.load import listener  # noqa: E402
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
OTHER = "/ other"  # the same of the other sources
IMPORT = """
import time
clock, work = time.perf_counter(), time.process_time()
import fgpvae
print(time.perf_counter() - clock, time.process_time() - work)
"""


def imported(sources: Path) -> dict[str, float]:
    """Seconds of `import fgpvae`."""
    command = [sys.executable, "-c", IMPORT]
    done = subprocess.run(command, cwd=sources, check=True, capture_output=True, text=True)
    clock, work = map(float, done.stdout.split())
    return {"by the clock": clock, "processor": work}


def cold(browser: Browser, sources: Path) -> dict[str, float]:
    """Seconds until a server that is started now has shown its first digit."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        with serve("app.py", root=sources, FGPVAE_RUNS=folder) as address:
            visited = time.monotonic()
            context = browser.new_context(viewport={"width": 1360, "height": 900})
            page = context.new_page()
            page.goto(address)
            page.wait_for_selector("[data-ready=yes]", timeout=PATIENCE)
            ended, work = time.monotonic(), listener(address).cpu_times()
            context.close()
    return {
        "from the start": ended - began,
        "from the visit": ended - visited,
        "processor": work.user + work.system,
    }


def in_turn(
    name: str, measure: Callable[[Path], dict[str, float]], rounds: int, other: Path | None
) -> Found:
    """Medians of what is measured with the present sources and with others."""
    sides = {name: ROOT} | ({} if other is None else {f"{name} {OTHER}": other})
    found: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
    for _ in range(rounds):
        for side, sources in sides.items():
            found[side].append(measure(sources))
    return {
        side: {what: round(median(each[what] for each in times), 3) for what in times[0]}
        for side, times in found.items()
    }


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
    kinds = ("import", "cold", "pages")
    parser.add_argument("--what", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--pages", nargs="+", choices=names, default=names)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--against", metavar="COMMIT")
    options = parser.parse_args()
    found: Found = {}
    with checked_out(options.against) if options.against else nullcontext() as other:
        if "import" in options.what:
            found |= in_turn("import fgpvae, s", imported, options.rounds, other)
        if "cold" in options.what:
            with chromium() as browser:
                found |= in_turn("cold digit, s", partial(cold, browser), options.rounds, other)
        if "pages" in options.what:
            found |= measure(options.pages, options.rounds, other)
    if options.json:
        print(json.dumps(found))
        return
    columns: list[str] = []
    for name, times in found.items():
        if list(times) != columns:
            columns = list(times)
            print(f"{'':26}" + "".join(f"{what:>16}" for what in columns))
        print(f"{name:26}" + "".join(map(cell, times.values())))
        if name.endswith(OTHER):
            now = found[name.removesuffix(f" {OTHER}")]
            print(f"{'ratio':26}" + "".join(ratio(now[what], times[what]) for what in columns))


def cell(value: float | None) -> str:
    return f"{'–':>16}" if value is None else f"{value:>16.4g}"


def ratio(value: float | None, other: float | None) -> str:
    return f"{value / other:>16.2f}" if value and other else f"{'–':>16}"


if __name__ == "__main__":
    main()
