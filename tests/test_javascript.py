"""The browser's modules by themselves, in Chromium: decoder, series, geometry, tiles, charts."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page, Route

from fgpvae.browser import export
from fgpvae.gp.kernels import Periodic
from fgpvae.gp.posterior import local_posterior
from tests import decoders
from ui.components.shared import packed

COMPONENTS = Path(__file__).parent.parent / "ui" / "components"
ORIGIN = "http://components.test"


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page that can import the modules."""
    page = browser.new_page()

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
    page.close()


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
    assert call(page, "dial/decoders.js", unpack, list(network.blob)) == network.id
    made = call(page, "dial/decoder.js", run, codes.tolist())
    assert np.allclose(made, expected.flatten(1).numpy(), atol=1e-4)


PICTURE = """(async () => {
  const { unpack } = await import("/dial/decoders.js");
  const { hub } = await import("/shared/pose.js");
  const { circle } = await import("/dial/circle.js");
  const { track } = await import("/dial/track.js");
  hub.networks.set(a.scene.network, unpack(Uint8Array.from(a.blob).buffer));
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
  const { gaussian } = await import("/shared/numbers.js");
  const kernel = { kind: "periodic", amplitude: 1, lengthScale: 1 };
  const q = new m.Posterior({ kernel, local: 1, latents: 1 }, a.views);
  const draw = q.sampler(a.w.slice(0, 1));
  const samples = Array.from({ length: 400 }, () => draw([[gaussian()]])[0][0]);
  const [mean, variance] = [a.w.map((w) => q.at(w)[0]), a.w.map((w) => q.variance(w)[0])];
  return { mean, variance, evidence: q.evidence(), samples };
})()"""


def test_the_evidence_and_the_samples_of_a_posterior_are_those_of_the_package(page: Page):
    points = np.array([[0.7, 1.5], [3.5, -0.8], [5.1, 0.3]])
    grid = np.arange(0, 6, 0.5)
    views = [{"w": w, "mean": [z], "variance": [0.05**2]} for w, z in points.tolist()]
    given = {"views": views, "w": grid.tolist()}
    made = call(page, "shared/posterior.js", f"await {POSTERIOR}", given)
    w, z = torch.as_tensor(points[:, 0])[None], torch.as_tensor(points[None, :, 1:])
    seen = torch.ones(1, 3, dtype=torch.bool)
    posterior = local_posterior(Periodic(), w, z, torch.full_like(z, 0.05**2), seen)
    mean, var = (x[0, :, 0].detach() for x in posterior.at(torch.as_tensor(grid)[None]))
    assert np.allclose(made["mean"], mean, atol=1e-9)
    assert np.allclose(made["variance"], var, atol=1e-9)
    assert made["evidence"] == pytest.approx(float(posterior.log_evidence.detach()), abs=1e-8)
    sd = float(var[0].sqrt())  # bounds of five standard errors
    assert abs(np.mean(made["samples"]) - float(mean[0])) < 5 * sd / 20
    assert np.std(made["samples"]) == pytest.approx(sd, rel=5 / np.sqrt(800))


MOUNTED = """(async () => {
  const made = [], ended = [];
  const show = m.mount((_, first) => {
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
    found = call(page, "shared/mount.js", f"await {MOUNTED}")
    assert found == {"made": [[1, 3]], "before": 0, "ended": [1]}


UPRIGHT = """(() => {
  const root = document.createElement("div"), sent = [];
  root.innerHTML = a.html;
  document.body.append(root);
  const show = (data) => m.default({
    data: [{ drawing: "", cycle: ["red"], said: true, answered: null, ...data }],
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
  for (const step of a.steps) {
    if ("typed" in step) type(step.typed);
    const answered = step.answers ? sent.at(-1).sent : null;
    if ("angle" in step) show({ angle: step.angle, answered });
    found.push(shown());
  }
  root.remove();
  return { found, sent: sent.map(({ angle }) => Math.round(10 * angle) / 10) };
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
