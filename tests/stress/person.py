"""What a person can do in Chromium with what is visible, by role and label: steps of the walk."""

import os
import random
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import psutil
from playwright.sync_api import Browser, Locator, Page

from tests.browser import PATIENCE, ROOT, Watch
from tests.stress import pictures

PAGES = ("rotate", "extrapolate", "train", "compare", "latents", "how")
REST = 10.0  # seconds within which a page comes to rest
REACH = 3000  # milliseconds to get hold of what was visible; it may be gone since
LAST = 25  # steps that are repeated with a finding
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DESK = {"viewport": {"width": 1280, "height": 900}}
LABEL = "xpath=ancestor::label[1]"
KEYS = ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End")
WORDS = ("", "3", "-1", "0.5", "1e9", "nan", "seedling", "three & four", "é" * 70, "../../etc")
OFTEN = ("Draw", "Upload", "Objects", "Start", "Stop", "Evaluate", "Delete")  # what leads further
FILES = {
    "digit.png": pictures.FILES["PNG"],
    "three.png": (ROOT / "docs" / "three.png").read_bytes(),
    "digit.gif": pictures.FILES["GIF"],
    "huge.png": pictures.large_png(12000, 12000),
    "text.png": b"This is no picture.\n",
    "empty.png": b"",
}
# what a person reads on a widget, whether it can be used, and where it leads
LOOK = """(elements) => elements.map((element) => {
  const heard = (element.getAttribute("aria-labelledby") ?? "").split(" ")
    .map((id) => element.getRootNode().getElementById?.(id)?.getAttribute("aria-label")
      ?? element.getRootNode().getElementById?.(id)?.innerText ?? "");
  const text = element.getAttribute("aria-label") || heard.join(" ").trim()
    || element.labels?.[0]?.innerText || element.innerText || element.placeholder || "";
  const box = element.getBoundingClientRect();
  const off = element.disabled || element.getAttribute("aria-disabled") === "true";
  const there = box.width * box.height > 0 && box.right > 0 && box.left < innerWidth;
  return [text.replace(/\\s+/g, " ").trim().slice(0, 60), there && !off, element.href ?? "",
    element.closest("label") !== null];
})"""


@dataclass
class Tab:
    """A page, and what went wrong in it."""

    page: Page
    touch: bool
    watch: Watch = field(init=False)
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.watch = Watch(self.page)
        self.page.on("crash", lambda _: self.watch.errors.append("the page crashed"))
        self.page.on("response", self._answer)

    def _answer(self, response: Any) -> None:
        # Streamlit looks for its own addresses below that of the page first, and refuses uploads
        if response.status >= 400 and "/_stcore/" not in response.url:
            self.refused.append(f"{response.status} for {response.url}")

    def errors(self) -> list[str]:
        """Uncaught exceptions and errors of the console; those of addresses are in `refused`."""
        return [text for text in self.watch.errors if "Failed to load resource" not in text]


class Person:
    """Tabs at a desk and on a phone, and hands that use what is visible in one of them."""

    def __init__(self, chrome: Browser, address: str, seed: int, seconds: float) -> None:
        self.address, self.seed, self.seconds = address, seed, seconds
        self.desk, self.phone = chrome.new_context(**DESK), chrome.new_context(**PHONE)
        self.desk.grant_permissions(["clipboard-read", "clipboard-write"])
        self.tabs: list[Tab] = []
        self.tab = self.open(touch=False)
        self.random = random.Random(seed)
        self.done: Counter[str] = Counter()  # kinds of steps, and widgets by page and label
        self.pages: Counter[str] = Counter()
        self.steps = 0
        self.last: deque[str] = deque(maxlen=LAST)
        self.kinds: dict[str, tuple[float, Callable[[], bool]]] = {
            "button": (5, lambda: self.press("button")),
            "choice": (5, lambda: self.press("radio", "tab", "option", "menuitem")),
            "switch": (2, lambda: self.press("switch", "checkbox")),
            "fold": (2, lambda: self.press(css="summary")),
            "link": (4, lambda: self.press("link")),
            "slider by keys": (4, self.hold),
            "slider by mouse": (3, lambda: self.drag("slider")),
            "drag": (4, lambda: self.drag("img", "figure", css="canvas, .paper")),
            "menu": (4, self.choose),
            "text": (2, self.type),
            "upload": (4, self.upload),
            "keyboard": (1, self.keyboard),
            "scroll": (1, self.scroll),
            "address": (2, self.visit),
            "Back": (1.5, lambda: self.leave("Back", self.page.go_back)),
            "Forward": (0.5, lambda: self.leave("Forward", self.page.go_forward)),
            "reload": (1, lambda: self.leave("reload", self.page.reload)),
            "wrong link": (1, self.wrong_link),
            "other tab": (3, self.other_tab),
        }

    @property
    def rest(self) -> float:
        """Milliseconds within which a page comes to rest."""
        return 1000 * self.seconds * max(1.0, os.getloadavg()[0] / (psutil.cpu_count() or 1))

    @property
    def page(self) -> Page:
        return self.tab.page

    def open(self, touch: bool, path: str = "") -> Tab:
        page = (self.phone if touch else self.desk).new_page()
        page.set_default_timeout(REACH)
        self.tabs.append(Tab(page, touch))
        page.goto(f"{self.address}/{path}", timeout=PATIENCE)
        return self.tabs[-1]

    def say(self, what: str) -> None:
        """Write down what is about to be done, so that the last step is known if all ends."""
        self.steps += 1
        here = urlsplit(self.page.url).path.strip("/") or "home"
        self.pages[here] += 1
        tab = f" (tab {self.tabs.index(self.tab) + 1}{', phone' if self.tab.touch else ''})"
        self.last.append(f"{self.steps:5} {here}{tab if len(self.tabs) > 1 else ''}: {what}")
        print(self.last[-1], flush=True)

    def pick(self, *roles: str, css: str = "") -> tuple[Locator, str] | None:
        """One of the widgets that can be used now; those that were used least come first."""
        dialog = self.page.get_by_role("dialog").filter(visible=True)
        scope: Page | Locator = dialog.last if dialog.count() else self.page
        groups = [scope.get_by_role(role) for role in roles]  # type: ignore[arg-type]
        groups += [scope.locator(css)] if css else []
        found: list[tuple[str, int, Locator]] = []
        for group in groups:
            visible = group.filter(visible=True)
            for index, (label, usable, href, inside) in enumerate(visible.evaluate_all(LOOK)):
                elsewhere = href and not href.startswith(self.address)
                if usable and not elsewhere:
                    widget = visible.nth(index)  # of a radio button people see the label alone
                    hidden = inside and bool({"radio", "switch"} & {*roles})
                    found.append((label, index, widget.locator(LABEL) if hidden else widget))
        if not found:
            return None
        found.sort(key=lambda each: each[:2])
        here = urlsplit(self.page.url).path
        weights = [
            (8 if label.startswith(OFTEN) else 1) / (1 + self.done[f"{here} {label}"])
            for label, _, _ in found
        ]
        ((label, _, chosen),) = self.random.choices(found, weights)
        self.done[f"{here} {label}"] += 1
        return chosen, f'{(roles or (css,))[0]} "{label}"'

    def touch(self, widget: Locator) -> None:
        if self.tab.touch:
            widget.tap()
        else:
            widget.click()

    def press(self, *roles: str, css: str = "") -> bool:
        if (picked := self.pick(*roles, css=css)) is None:
            return False
        times = self.random.choice((1, 1, 1, 1, 3))
        self.say(f"press {picked[1]}" + (f", {times} times" if times > 1 else ""))
        for _ in range(times):
            self.touch(picked[0])
        return True

    def hold(self) -> bool:
        """Hold a key down on a slider, or on the dial, or press it as fast as a hand can."""
        if (picked := self.pick("slider")) is None:
            return False
        keys = self.random.choices(KEYS, (6, 6, 3, 3, 1, 1, 1, 1), k=self.random.choice((1, 2, 3)))
        count, gap = self.random.randint(3, 25), self.random.choice((30, 60, 120))
        self.say(f"{picked[1]}: {', '.join(keys)} {count} times each, every {gap} ms")
        picked[0].focus()
        for key in keys:
            for _ in range(count):
                self.page.keyboard.press(key)
                self.page.wait_for_timeout(gap)
        return True

    def drag(self, *roles: str, css: str = "") -> bool:
        """Drag a slider, turn the dial, draw on a canvas, zoom a chart."""
        if (picked := self.pick(*roles, css=css)) is None:
            return False
        picked[0].scroll_into_view_if_needed()
        if (box := picked[0].bounding_box()) is None:
            return False
        slider = "slider" in roles and box["width"] < 40  # a thumb: its track is wider
        spread = (150.0, 6.0) if slider else (box["width"] / 2, box["height"] / 2)
        centre = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        points = [
            tuple(
                c + self.random.uniform(-0.9, 0.9) * s for c, s in zip(centre, spread, strict=True)
            )
            for _ in range(self.random.randint(1, 6))
        ]
        self.say(f"drag over {picked[1]} through {len(points)} points")
        self.page.mouse.move(*(centre if slider else points[0]))
        self.page.mouse.down()
        for x, y in points:
            self.page.mouse.move(x, y, steps=self.random.randint(1, 12))
        self.page.mouse.up()
        return True

    def choose(self) -> bool:
        """Open a menu; take one of its options, type something, or leave it."""
        if (picked := self.pick("combobox")) is None:
            return False
        how = self.random.choice(("option", "option", "option", "words", "Escape"))
        self.say(f"{picked[1]}: {how}")
        self.touch(picked[0])
        self.page.wait_for_timeout(200)
        if how == "words":
            self.page.keyboard.type(self.random.choice(WORDS))
            self.page.keyboard.press("Enter")
        elif how == "option" and (option := self.pick("option")) is not None:
            print(f"      {option[1]}", flush=True)
            self.touch(option[0])
        self.page.keyboard.press("Escape")
        return True

    def type(self) -> bool:
        if (picked := self.pick("textbox", "spinbutton")) is None:
            return False
        text, end = self.random.choice(WORDS), self.random.choice(("Enter", "Tab", "Escape"))
        self.say(f'type "{text[:20]}" into {picked[1]}, {end}')
        self.touch(picked[0])
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text or " ")
        self.page.keyboard.press(end)
        return True

    def upload(self) -> bool:
        inputs = self.page.locator("input[type=file]")
        if not (count := inputs.count()):
            return False
        name, index = self.random.choice(sorted(FILES)), self.random.randrange(count)
        self.say(f"upload {name} to uploader {index + 1}")
        kind = "image/gif" if name.endswith("gif") else "image/png"
        upload = {"name": name, "mimeType": kind, "buffer": FILES[name]}
        inputs.nth(index).set_input_files(upload)  # type: ignore[arg-type]
        self.page.wait_for_timeout(1000)
        return True

    def keyboard(self) -> bool:
        tabs = self.random.randint(1, 15)
        end = self.random.choice(("Enter", "Space", "Escape", "ArrowDown"))
        self.say(f"Tab {tabs} times, then {end}")
        for key in (*["Tab"] * tabs, end):
            self.page.keyboard.press(key)
        return True

    def scroll(self) -> bool:
        by = self.random.choice((-3000, -600, 600, 3000))
        self.say(f"scroll by {by}")
        if self.tab.touch:  # a wheel is not for phones
            self.page.evaluate("by => document.scrollingElement.scrollBy(0, by)", by)
        else:
            self.page.mouse.move(640, 450)
            self.page.mouse.wheel(0, by)
        return True

    def leave(self, what: str, go: Callable[..., object]) -> bool:
        self.say(what)
        go(timeout=self.rest)
        if not self.page.url.startswith(self.address):  # Back, beyond the first page
            self.page.goto(self.address, timeout=self.rest)
        return True

    def visit(self) -> bool:
        path = min(self.random.sample(PAGES, len(PAGES)), key=self.pages.__getitem__)
        return self.leave(
            f"go to /{path}", lambda **o: self.page.goto(f"{self.address}/{path}", **o)
        )

    def wrong_link(self) -> bool:
        """Change a value of the address, as people do by hand or with half a link."""
        query = dict(parse_qsl(urlsplit(self.page.url).query))
        if not query:
            return False
        name, value = self.random.choice(sorted(query)), self.random.choice(WORDS)
        url = f"{self.page.url.partition('?')[0]}?{urlencode(query | {name: value})}"
        return self.leave(f'link with {name}="{value[:20]}"', lambda **o: self.page.goto(url, **o))

    def other_tab(self) -> bool:
        """Two tabs at a desk and a phone; the phone comes first."""
        if len(self.tabs) < 3:
            path = self.random.choice(PAGES)
            self.say(f"open {'another tab' if len(self.tabs) == 2 else 'a phone'} at /{path}")
            self.tab = self.open(len(self.tabs) == 1, path)
        else:
            self.tab = self.tabs[(self.tabs.index(self.tab) + 1) % 3]
            self.say("go to this tab")
            self.page.bring_to_front()
        return True
