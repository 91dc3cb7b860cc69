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

    picture work  milliseconds of the processor that the page's main thread took until the picture
    work          the same until it was settled
    kB            what it loaded
    jump          how far things moved after the picture, by Chromium's measure (layout shift),
                  in thousandths: 100 is its limit for a good page

        A Streamlit page of one word is the reference: what no page can go below.

All are medians. What is compared takes turns, so that a busy moment is not one's alone. A row is
printed when it is known; what goes on meanwhile goes to standard error.

    --against COMMIT    an older commit, in a worktree of its own for the time, or a folder with
                        other sources: what counts is the ratio to it
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, Page, TimeoutError  # noqa: E402

from tests.browser import chromium, serve  # noqa: E402
from tests.sources import checked_out  # noqa: E402
from tests.stress.load import listener  # noqa: E402
from ui.shell.frame import PAGES  # noqa: E402

BARE = "one word"
EXPECTED = {BARE: ["words"], "train": ["words", "controls"]}  # of the others all three
PATIENCE = 180_000  # milliseconds: a busy machine is not a failure
WHAT = ("words", "controls", "picture", "settled", "picture work", "work", "kB", "jump")
LOADED = "() => performance.getEntriesByType('resource').reduce((n, e) => n + e.transferSize, 0)"
# Looks once a frame for what has come, also inside components.
PROBE = """(expected) => {
  const seen = (window.startTimes = {});
  performance.mark("begun");
  window.jumped = 0;
  new PerformanceObserver((list) => {
    for (const { startTime, value } of list.getEntries())
      if (startTime > seen.picture) jumped += value;
  }).observe({ type: "layout-shift", buffered: true });
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
        node.matches("svg image") ||
        (node.matches("img") && node.complete && node.naturalWidth > 0)) && large(node),
  };
  const mark = (name) => {
    seen[name] = performance.now();
    performance.mark(name);
  };
  const look = (root, missing) => {
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) look(node.shadowRoot, missing);
      for (const name of missing) if (!(name in seen) && marks[name](node)) mark(name);
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
    const waits = document.querySelector(".st-key-charts-painted"); // for what is to be painted
    const ended = come && !waits && app?.dataset.testScriptState === "notRunning";
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
    browser.start_tracing(page=page, categories=["blink.user_timing"])
    page.goto(url)
    try:
        page.wait_for_function("() => window.startTimes?.settled", timeout=PATIENCE)
    except TimeoutError:
        sys.exit(never_settled(page, expected))
    times = page.evaluate("() => startTimes")
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    times["work"] = 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")
    times["kB"] = page.evaluate(LOADED) / 1000
    times["jump"] = 1000 * page.evaluate("() => jumped")
    spent = thread_times(browser.stop_tracing())
    if "picture" in spent:
        times["picture work"] = spent["picture"] - spent["begun"]
    context.close()
    return times


def never_settled(page: Page, expected: Sequence[str]) -> str:
    """What a page lacks, in a sentence."""
    seen = page.evaluate("() => Object.keys(startTimes)")
    missing = [name for name in expected if name not in seen]
    lack = f"shows no {' and no '.join(missing)}" if missing else "does not come to rest"
    return f"{page.url} {lack} within {PATIENCE / 1000:.0f} s: nothing more is measured"


def thread_times(trace: bytes) -> dict[str, float]:
    """Milliseconds of the processor that the main thread had taken at each mark of the page."""
    events = json.loads(trace)["traceEvents"]
    return {each["name"]: each["tts"] / 1000 for each in events if "tts" in each}


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
    for k in range(rounds):
        for side, sources in sides.items():
            say(f"{side}: round {k + 1} of {rounds}")
            found[side].append(measure(sources))
    return {
        side: {what: round(median(each[what] for each in times), 3) for what in times[0]}
        for side, times in found.items()
    }


def pages(names: list[str], rounds: int, other: Path | None = None) -> Iterator[Found]:
    """Medians of each page, and of a page of one word before them."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        script = folder / "bare.py"
        script.write_text('import streamlit as st\n\nst.write("word")\n')
        say("starting servers")
        runs = {"FGPVAE_RUNS": str(folder / "runs"), "FGPVAE_CHARTS_WAIT": "10"}
        bare, app = (stack.enter_context(serve(each, **runs)) for each in (script, ROOT / "app.py"))
        servers = {"": app}
        if other is not None:
            sources = {"root": other, "PYTHONPATH": str(other)}
            servers[f" {OTHER}"] = stack.enter_context(serve(other / "app.py", **sources, **runs))
        browser = stack.enter_context(chromium())
        yield page_times(browser, {BARE: bare}, ["words"], rounds)
        for name in names:
            urls = {f"{name}{side}": f"{server}/{name}" for side, server in servers.items()}
            yield page_times(browser, urls, EXPECTED.get(name, WHAT[:3]), rounds)


def page_times(
    browser: Browser, urls: dict[str, str], expected: Sequence[str], rounds: int
) -> Found:
    """Visit each once unmeasured, so that the server is warm, then in turn."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in urls}
    for k in range(rounds + 1):
        for name, url in urls.items():
            say(f"{name}: {f'round {k} of {rounds}' if k else 'warming up'}")
            times = visit(browser, url, expected)
            if k:
                found[name].append(times)
    return {
        name: {
            what: round(median(times), 0) if times else None
            for what in WHAT
            for times in [[each[what] for each in visits if what in each]]
        }
        for name, visits in found.items()
    }


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def measure(kinds: Sequence[str], names: list[str], rounds: int, against: str) -> Iterator[Found]:
    with checked_out(against) if against else nullcontext() as other:
        if "import" in kinds:
            yield in_turn("import fgpvae, s", imported, rounds, other)
        if "cold" in kinds:
            with chromium() as browser:
                yield in_turn("cold digit, s", partial(cold, browser), rounds, other)
        if "pages" in kinds:
            yield from pages(names, rounds, other)


def main() -> None:
    names = [name for name, _ in PAGES]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = ("import", "cold", "pages")
    parser.add_argument("--what", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--pages", nargs="+", choices=names, default=names)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--against", metavar="COMMIT", default="")
    options = parser.parse_args()
    every: Found = {}
    columns: list[str] = []
    for found in measure(options.what, options.pages, options.rounds, options.against):
        every |= found
        if not options.json:
            columns = show(found, columns)
    if options.json:
        print(json.dumps(every))


def show(found: Found, columns: list[str]) -> list[str]:
    """Print rows, below the names of their columns if these are not the last ones."""
    for name, times in found.items():
        if list(times) != columns:
            columns = list(times)
            print(f"{'':26}" + "".join(f"{what:>16}" for what in columns))
        print(f"{name:26}" + "".join(map(cell, times.values())), flush=True)
        if name.endswith(OTHER):
            now = found[name.removesuffix(f" {OTHER}")]
            ratios = "".join(ratio(now[what], times[what]) for what in columns)
            print(f"{'ratio':26}{ratios}", flush=True)
    return columns


def cell(value: float | None) -> str:
    return f"{'–':>16}" if value is None else f"{value:>16.4g}"


def ratio(value: float | None, other: float | None) -> str:
    return f"{value / other:>16.2f}" if value and other else f"{'–':>16}"


if __name__ == "__main__":
    main()
