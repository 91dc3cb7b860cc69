"""The browser's modules by themselves, in Chromium: decoder, series, geometry, tiles, charts."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page, Route

from fgpvae.browser import export
from fgpvae.gp.kernels import Periodic, SquaredExponential
from fgpvae.gp.posterior import global_posterior, local_posterior
from tests import decoders
from tests.browser import new_page
from ui.components.shared import packed

COMPONENTS = Path(__file__).parent.parent / "ui" / "components"
ORIGIN = "http://components.test"


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page that can import the modules."""
    page = new_page(browser)

    def serve(route: Route) -> None:
        file = COMPONENTS / route.request.url.removeprefix(f"{ORIGIN}/")
        if file.suffix == ".js" and not file.exists():
            route.fulfill(status=404)
        elif file.suffix == ".js":
            route.fulfill(body=file.read_text(), content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    page.route(f"{ORIGIN}/**", serve)
    page.goto(f"{ORIGIN}/")
    yield page
    page.context.close()


def call(page: Page, module: str, code: str, argument: object = None) -> object:
    """The value of an expression in which `m` is the module and `a` the argument."""
    return page.evaluate(
        f"async (a) => {{ const m = await import('{ORIGIN}/{module}'); return {code}; }}", argument
    )


def test_every_module_loads_by_itself(page: Page):
    for file in sorted(COMPONENTS.rglob("*.js")):
        name = file.relative_to(COMPONENTS).as_posix()
        assert call(page, name, "Object.keys(m).length"), name


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("name", decoders.CONFIGS)
def test_the_decoder_is_that_of_torch(page: Page, name: str, half: bool):
    model = decoders.build(name)
    if half:  # as most that are shipped
        for parameter in model.decoder.parameters():
            parameter.data = parameter.data.half().float()
    codes = np.random.default_rng(0).normal(size=(3, model.config.latents))
    with torch.no_grad():
        expected = model.decoder(torch.as_tensor(codes, dtype=torch.float32))
    network = export.network(model)
    assert (b'"half":true' in network.blob) == (half and name != "paper")  # sums there are not
    run = """(() => {
      const decoder = new m.Decoder(globalThis.unpacked);
      return a.map((code) => Array.from(decoder.run(Float64Array.from(code))));
    })()"""
    unpack = "(globalThis.unpacked = m.unpack(Uint8Array.from(a).buffer)).header.id"
    assert call(page, "dial/picture.js", unpack, list(network.blob)) == network.id
    made = call(page, "dial/decoder.js", run, codes.tolist())
    assert np.allclose(made, expected.flatten(1).numpy(), atol=1e-4)


PICTURE = """(async () => {
  const { hub } = await import("/shared/pose.js");
  const { circle, track } = await import("/dial/shapes.js");
  hub.networks.set(a.scene.network, m.unpack(Uint8Array.from(a.blob).buffer));
  const shape = a.line ? track : circle;
  const picture = new m.Picture(document.createElement("canvas"), shape);
  picture.show(a.scene);
  return picture.connect() && a.angles.map((angle) => ({
    own: Array.from(picture.decode(angle, a.scene.own)),
    other: Array.from(picture.decode(angle, picture.following(a.first, a.firstOwn))),
  }));
})()"""


@pytest.mark.parametrize("name", ["paper", "product", "move"])
def test_a_picture_is_that_of_torch_and_follows_the_style_of_another(page: Page, name: str):
    model = decoders.build(name)
    scene, random = decoders.scene(name, model, [1, 5, 6]), np.random.default_rng(4)
    first_own, first = random.normal(size=(2, 3))  # of another model
    reading, direction = random.normal(size=3), random.normal(size=len(scene.own))
    style = scene.own + reading @ (first - first_own) * direction
    angles = [0, 33.3, 99.9] + [271.0] * (not scene.line)
    w = np.array(angles) / 50 - 1 if scene.line else np.deg2rad(angles)
    sent = {
        "network": scene.network.id,
        "code": {"shape": scene.code.shape, "values": packed(scene.code)},
        "frequency": scene.frequency,
        "styles": scene.styles.tolist(),
        "own": scene.own.tolist(),
        "follow": [{"reading": reading.tolist(), "direction": direction.tolist()}],
    }
    a = {"scene": sent, "blob": list(scene.network.blob), "line": scene.line, "angles": angles}
    a |= {"first": first.tolist(), "firstOwn": first_own.tolist()}
    made = call(page, "dial/picture.js", f"await {PICTURE}", a)
    for key, wanted in (("own", None), ("other", style)):
        codes = torch.as_tensor(scene.at(w, wanted))
        expected = model.decode(codes).detach().numpy().reshape(len(w), -1)
        assert np.ptp(expected) > 0.1
        assert np.allclose([each[key] for each in made], expected, atol=1e-4)


POSTERIOR = """(async () => {
  const { gaussian } = await import("/shared/maths.js");
  const q = new m.Posterior({ kernel: a.kernel, local: 2, latents: 5 }, a.views);
  const draw = q.sampler(a.at.slice(0, 1));
  const samples = Array.from({ length: 400 }, () => draw([[gaussian()], [gaussian()]])[0][0]);
  const [mean, variance] = [a.at.map((w) => [...q.at(w)]), a.at.map((w) => [...q.variance(w)])];
  return { mean, variance, evidence: q.evidence(), samples };
})()"""


@pytest.mark.parametrize("kind", ["periodic", "squared-exponential"])
def test_a_posterior_is_that_of_the_package(page: Page, kind: str):
    random = torch.Generator().manual_seed(3)
    mu = torch.randn(1, 24, 5, generator=random, dtype=torch.float64)
    var = torch.rand(1, 24, 5, generator=random, dtype=torch.float64).pow(4) + 1e-6
    w = torch.linspace(-1, 1, 24, dtype=torch.float64)
    at = torch.linspace(-1.3, 1.7, 31, dtype=torch.float64)
    kernel = (Periodic if kind == "periodic" else SquaredExponential)(0.7, 0.4)
    seen = torch.ones(1, 24, dtype=torch.bool)
    local = local_posterior(kernel, w[None], mu[..., :2], var[..., :2], seen)
    style, spread, _ = global_posterior(mu[..., 2:], var[..., 2:], seen)
    views = zip(w.tolist(), mu[0].tolist(), var[0].tolist(), strict=True)
    given = {
        "kernel": {"kind": kind, "amplitude": 0.7, "lengthScale": 0.4},
        "views": [{"w": a, "mean": m, "variance": v} for a, m, v in views],
        "at": at.tolist(),
    }
    made = call(page, "shared/posterior.js", f"await {POSTERIOR}", given)
    near = [each[0].detach() for each in local.at(at[None])]
    for name, here, everywhere in zip(("mean", "variance"), near, (style, spread), strict=True):
        expected = torch.cat([here, everywhere.expand(31, 3)], -1)
        assert np.allclose(made[name], expected, atol=1e-4), name
    assert made["evidence"] == pytest.approx(float(local.log_evidence.detach().sum()), rel=1e-6)
    mean, sd = float(near[0][0, 0]), float(near[1][0, 0].sqrt())
    assert abs(np.mean(made["samples"]) - mean) < 5 * sd / 20  # five standard errors
    assert np.std(made["samples"]) == pytest.approx(sd, rel=5 / np.sqrt(800))


MOUNTED = """(async () => {
  const made = [], ended = [];
  const show = m.mount(function (_, first) {
    const destroy = () => ended.push(first);
    const view = { first, update: (data) => { view.last = data; }, destroy };
    made.push(view);
    return view;
  });
  const parentElement = document.createElement("div").attachShadow({ mode: "open" });
  document.body.append(parentElement.host);
  const overtaken = show({ data: [1], parentElement });
  const newest = show({ data: [2], parentElement });
  overtaken(); // as Streamlit does when the second came before the first was there
  show({ data: [3], parentElement });
  const before = ended.length;
  parentElement.host.remove();
  newest();
  newest();
  return { made: made.map(({ first, last }) => [first, last]), before, ended };
})()"""


def test_a_view_stays_as_long_as_its_element(page: Page):
    found = call(page, "shared/dom.js", f"await {MOUNTED}")
    assert found == {"made": [[1, 3]], "before": 0, "ended": [1]}


UPRIGHT = """(() => {
  const root = document.createElement("div"), sent = [];
  root.innerHTML = a.html;
  document.body.append(root);
  const show = (data) => m.default({
    data: [{ drawing: "", cycle: ["red"], said: true, ...data }, data.answered],
    parentElement: root, setStateValue: null, setTriggerValue: (_, value) => sent.push(value),
  });
  const typed = root.querySelector(".typed");
  const type = (number) => {
    typed.value = number;
    typed.dispatchEvent(new Event("input"));
    typed.dispatchEvent(new Event("change"));
  };
  const shown = () => Number(root.querySelector(".hold").getAttribute("aria-valuenow"));
  show({ angle: 40 });
  const found = [shown()];
  let answered = null;
  for (const step of a.steps) {
    if ("typed" in step) type(step.typed);
    if (step.answers) answered = sent.at(-1).sent; // stays in the session
    if ("angle" in step) show({ angle: step.angle, answered });
    found.push(shown());
  }
  root.remove();
  return { found, sent: sent.map(({ value: { angle } }) => Math.round(10 * angle) / 10) };
})()"""


def test_a_picture_turned_by_hand_stays_until_it_is_answered_and_then_follows(page: Page):
    steps = [
        {"typed": -33.3},
        {"angle": 40},  # from a run that was under way
        {"angle": 120, "answers": True},  # another angle was clicked before this was answered
        {"angle": 90},
        {"typed": 45},
        {"angle": 45, "answers": True},
    ]
    html = (COMPONENTS / "upright" / "upright.html").read_text()
    made = call(page, "upright/upright.js", UPRIGHT, {"html": html, "steps": steps})
    assert made == {"found": [40, 326.7, 326.7, 120, 90, 45, 45], "sent": [326.7, 45]}
