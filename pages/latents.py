"""Inside the latent space: where the views of a digit lie, and what each channel does."""

import time
from html import escape

import numpy as np
import streamlit as st

from fgpvae import UserError, data, latents, metrics
from fgpvae.data import ANGLES, Views
from fgpvae.experiments.disentanglement import swap_error
from ui import colours, figures, frame, loops, models, notices, placing, plot
from ui.digits import mean_image, trained
from ui.models import Choice
from ui.traversals import traversals
from ui.turning import Turning
from ui.views import mask, remembered

DEGREES = np.rad2deg(ANGLES)
LABELS = [f"{degrees:g}°" for degrees in DEGREES]
FINE = np.linspace(0, 2 * np.pi, 121)
VIEWS_GIVEN = {1: [0], 2: [0, 8], 4: [0, 4, 8, 12], 8: list(range(0, 16, 2)), 16: list(range(16))}
CHANNELS = 8  # global ones that are shown, those that change the picture most
MEASURED = 40  # digits that the figures of disentanglement are of

KEPT = {"required": True, "bind": "query-params", "persist_state": "session"}

COLOUR = {"local": colours.LOCAL, "global": colours.GLOBAL, "joint": colours.TRUTH}
TITLE = {
    "local": "Local channels",
    "global": "Global channels",
    "joint": "All channels",
}
SENTENCE = {
    "local": "They turn with the digit: its sixteen views make a loop.",
    "global": "They stay when the digit turns: its sixteen views are one point.",
    "joint": "This model does not divide its channels: angle and style are in the same place.",
}
SCATTERED = "They are meant to stay. Judged from one image at a time, they scatter around a point."
SPLIT = {
    "VAE": "A VAE takes every image for itself, so nothing joins the views of a digit.",
    "CVAE": "A CVAE is told the angle, so its channels should hold the style alone. Nothing "
    "makes them.",
    "GP-VAE": "The GP-VAE has one Gaussian process over digits and angles together, so each "
    "channel holds both.",
}


@st.cache_resource(max_entries=4, show_spinner=False)
def digits(classes: tuple[int, ...], new: bool, count: int) -> Views:
    return latents.digits(classes, new, count)


@st.cache_resource(max_entries=12, show_spinner="Looking at every digit from sixteen angles")
def encoded(choice: Choice) -> latents.Latents:
    return latents.latents(choice.load(), shown(choice))


@st.cache_data(max_entries=32, show_spinner=False)
def projected(choice: Choice, block: str, pooled: bool) -> latents.Projection:
    return latents.project(encoded(choice).channels(block, pooled))


@st.cache_data(max_entries=12, show_spinner=False)
def strongest(choice: Choice) -> list[int]:
    """The global channels, those that change the picture most first."""
    found = encoded(choice)
    assert found.pooled is not None
    effect = latents.effects(choice.load(), found.pooled[:8, 0])
    part = found.blocks["global"]
    return [part.start + int(i) for i in np.argsort(-effect[part])]


@st.cache_data(max_entries=64, show_spinner=False)
def scores(choice: Choice) -> dict[str, float | None]:
    rows = latents.spread(shown(choice), MEASURED)
    model, views = choice.load(), shown(choice)[rows]
    local, rest = latents.parts(encoded(choice), rows)
    figures = metrics.disentanglement(local, rest, ANGLES)
    if len(encoded(choice).blocks) == 2:
        figures["swap_error"] = swap_error(model, views)
    made = latents.generated(model, views)
    return figures | {"reconstruction_error": metrics.mse(made.numpy(), views.images.numpy())}


def shown(choice: Choice) -> Views:
    known = trained(choice) * len(choice.classes)
    new = choice.load().takes_new_digits
    return digits(choice.classes, new, latents.DIGITS if new else min(latents.DIGITS, known))


def point_colours(mode: str, views: Views, still: bool) -> list[str]:
    """Colours of the P Q points; where the views of a digit are one point it has no angle."""
    P, Q = views.angles.shape
    if mode == "angle":
        return [colours.GLOBAL] * (P * Q) if still else colours.angle_colours(ANGLES) * P
    if mode == "digit":
        return [colour for colour in figures.several(P) for _ in range(Q)]
    palette = figures.several(10)
    return [palette[label] for label in views.labels.tolist() for _ in range(Q)]


def choose(digit: int, view: int | None) -> None:
    """A point was clicked."""
    st.session_state["z_digit"] = digit
    if view is not None:
        st.session_state["z_view"] = float(DEGREES[view])


def space(choice: Choice, block: str, views: Views) -> loops.Space:
    """One PCA."""
    pooled = st.session_state["z_from"] == "all its views" and encoded(choice).pooled is not None
    still = pooled and block == "global"
    projection = projected(choice, block, pooled)
    shares = projection.shares[: 3 if st.session_state["z_space"] == "3-D" else 2]
    scattered = block == "global" and not still
    channels = encoded(choice).blocks[block]
    return loops.Space(
        TITLE[block],
        SCATTERED if scattered else SENTENCE[block],
        f"{shares.sum():.0%} of the variance of {channels.stop - channels.start} channels is in "
        f"the {len(shares)} components that you see.",
        projection.points,
        projection.shares,
        point_colours(st.session_state["z_colour"], views, still),
        still,
    )


def this_digit(choice: Choice, views: Views, digit: int, view: int, given: np.ndarray) -> None:
    """The chosen digit, true and generated, with numbers that have company."""
    model, mine = choice.load(), views[[digit]]
    truth = mine.images[0].numpy()
    try:
        made = latents.generated(model, mine, given)[0].numpy()
    except UserError as error:
        st.caption(frame.plain(error))
        return
    st.html(
        figures.grid(
            [("true", truth), ("generated", made)],
            LABELS,
            colours.angle_colours(ANGLES),
            marked=view,
            alt=f"digit {digit} at sixteen angles, true and generated",
        )
    )
    w, kept = float(ANGLES[view]), remembered(model, mine.ids)
    mean = data.rotate(mean_image(int(mine.labels[0]))[None], [w])[0, 0]
    turned = Turning(model, truth, ANGLES, mask(kept) if kept else given).geometric(w)
    error = ((made - truth) ** 2).mean((1, 2))
    st.html(
        figures.numbers(
            [
                (f"{error[view]:.4f}", f"MSE at {LABELS[view]}"),
                (f"{error.mean():.4f}", "MSE of all sixteen"),
                (f"{((turned - truth[view]) ** 2).mean():.4f}", "geometric rotation"),
                (f"{((mean - truth[view]) ** 2).mean():.4f}", "mean image"),
            ]
        )
    )


def channel_panels(choice: Choice, digit: int, given: np.ndarray) -> None:
    """Every local channel, and the strongest global ones, over the angle."""
    model, found = choice.load(), encoded(choice)
    mu, var = found.mu[digit], found.var[digit]
    curves = latents.curves(model, mu, var, given, FINE) if "local" in model.blocks else None
    for block, part in found.blocks.items():
        every = list(range(part.start, part.stop))
        few = every if block == "local" else every[:CHANNELS]
        if block == "global" and curves is not None:
            few = strongest(choice)[:CHANNELS]
        spread = np.sqrt(var)
        inside = [np.abs(mu[:, few]) + 2 * spread[:, few]]
        if curves is not None:
            inside.append(np.abs(curves.mean[:, few]) + 2 * curves.sd[:, few])
        reach = min(max(float(each.max(initial=0.5)) for each in inside), 6.0)
        limits = (-np.ceil(reach * 2) / 2, np.ceil(reach * 2) / 2)
        panels = [
            figures.channel(
                f"{block} {channel - part.start + 1}" if block != "joint" else f"{channel + 1}",
                COLOUR[block],
                np.rad2deg(FINE),
                None if curves is None else curves.mean[:, channel],
                None if curves is None else curves.sd[:, channel],
                DEGREES,
                mu[:, channel],
                spread[:, channel],
                given,
                limits,
            )
            for channel in few
        ]
        if len(few) < len(every):
            st.caption(f"{len(few)} of the {len(every)} {block} channels")
        st.html(figures.multiples(panels))


def matrices(choice: Choice) -> None:
    """Kernel and correlation heat maps."""
    model, found = choice.load(), encoded(choice)
    divided = model.divides_channels
    first, second, third = st.columns(3, gap="medium")
    if divided:
        with (
            first,
            frame.card("What the prior expects", "Local channels at two angles: how alike?"),
        ):
            made = figures.heatmap(latents.prior_gram(model), LABELS, colours.LOCAL, "prior")
            plot.show(made, "z_prior")
        with second, frame.card("What the encoder says", "The same, measured over all the digits."):
            moved = latents.about_prior_mean(model, found.channels("local"))
            measured = latents.angle_correlation(moved)
            plot.show(figures.heatmap(measured, LABELS, colours.LOCAL, "encoder"), "z_said")
    with (
        third if divided else first,
        frame.card("Which channels go together", "Correlation of channels, whatever its sign."),
    ):
        strength = np.abs(latents.channel_correlation(found.mu))
        channels = [str(k + 1) for k in range(len(strength))]
        made = figures.heatmap(strength, channels, plot.INK, "channels")
        if divided:
            edge = found.blocks["global"].start - 0.5
            made.rule(colours.GLOBAL, x=edge).rule(colours.GLOBAL, y=edge)
        plot.show(made, "z_channels")


# figure, name, how to read it, how to write it
READING = (
    (
        "angle_error_local_degrees",
        "Angle from local",
        "How far off one is who reads the angle from the local channels of a digit never met "
        "before. 0° is perfect, 90° is chance.",
        "{:.0f}°",
    ),
    (
        "angle_error_global_degrees",
        "Angle from global",
        "The same from the global channels. They should not know it: near 90° is good.",
        "{:.0f}°",
    ),
    (
        "digit_retrieval_local",
        "Digit from local",
        "How often the most similar view at another angle is of the same digit, by local channels. "
        "They should not know it: near chance is good.",
        "{:.0%}",
    ),
    (
        "digit_retrieval_global",
        "Digit from global",
        "The same by global channels, which should know: 100 % is perfect.",
        "{:.0%}",
    ),
    ("digit_retrieval_chance", "Digit by chance", "What a blind guess would get.", "{:.0%}"),
    (
        "invariance_ratio_local",
        "Movement of local",
        "The share of their variance that is within a digit: 1 if they only turn.",
        "{:.2f}",
    ),
    (
        "invariance_ratio_global",
        "Movement of global",
        "The same for global channels: 0 if the point stands still.",
        "{:.2f}",
    ),
    (
        "dci_disentanglement",
        "Disentanglement (DCI)",
        "1 if each part knows one thing, the angle or the digit; 0 if each knows both equally.",
        "{:.2f}",
    ),
    (
        "dci_completeness",
        "Completeness (DCI)",
        "1 if each thing is known to one part only.",
        "{:.2f}",
    ),
    (
        "dci_informativeness",
        "Informativeness (DCI)",
        "How much of angle and digit the better informed part knows: 1 is all.",
        "{:.2f}",
    ),
    (
        "mig",
        "Information gap (MIG)",
        "How much more the better informed part knows than the other: 1 is all against nothing.",
        "{:.2f}",
    ),
    (
        "swap_error",
        "Swap error",
        "MSE of one digit's style drawn with another's local channels. It is that of plain "
        "reconstruction if the two are kept apart.",
        "{:.4f}",
    ),
    (
        "reconstruction_error",
        "Plain reconstruction",
        "MSE of the same images with the digit's own local channels.",
        "{:.4f}",
    ),
)


def table(measured: dict[Choice, dict[str, float | None]]) -> str:
    """Figures by model, as HTML; every figure with a sentence on how to read it."""
    head = "".join(
        f"<th>{escape(choice.name)}<br><small>{escape(choice.title)}</small></th>"
        for choice in measured
    )
    rows = []
    for name, title, sentence, form in READING:
        values = [each.get(name) for each in measured.values()]
        cells = "".join(
            f"<td>{'–' if value is None else form.format(value)}</td>" for value in values
        )
        rows.append(f"<tr><th>{title}<br><small>{sentence}</small></th>{cells}</tr>")
    return (
        '<div class="reading"><style>.reading{overflow-x:auto}.reading table{border-collapse:'
        "collapse;width:100%}.reading th,.reading td{text-align:left;padding:.5rem .8rem .5rem 0;"
        "border-bottom:1px solid rgba(128,136,152,.25);vertical-align:top;font-weight:400}"
        ".reading th small{opacity:.7}.reading tbody th{min-width:15rem;max-width:34rem}"
        ".reading td{font-variant-numeric:tabular-nums;font-weight:600;white-space:nowrap}"
        ".reading thead th{font-weight:600}</style><table><thead><tr><th></th>"
        f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def measure() -> None:
    st.session_state["z_measured"] = True


@st.fragment
def disentanglement() -> None:
    choices = models.available()
    if not st.session_state.get("z_measured"):
        st.caption(
            f"{len(choices)} models, some seconds each. Each is asked about at most {MEASURED} "
            "digits of its own classes, at sixteen angles: new digits, or training digits if it "
            "takes no others."
        )
        st.button("Measure all models", on_click=measure)
        return
    bar, measured, began = st.empty(), {}, time.monotonic()
    for done, choice in enumerate(choices):
        spent = time.monotonic() - began
        if spent > 0.5:  # otherwise all is remembered
            left = spent / done * (len(choices) - done)
            bar.progress(
                done / len(choices), f"{frame.plain(choice.name)}, about {left:.0f} s left"
            )
        elif done == 0:
            bar.progress(0.0, frame.plain(choice.name))
        try:
            measured[choice] = scores(choice)
        except UserError as error:
            st.caption(frame.plain(f"{choice.name}: {error}"))
    bar.empty()
    st.html(table(measured))


frame.guard()
head = st.container()
with st.container(horizontal=True, gap="medium"):
    choice = models.pick(width=260, objects=True)
    if not choice.objects:
        with head:
            views, found = notices.attempt(lambda: (shown(choice), encoded(choice)))
        modes = ["angle", "digit", "class"] if len(choice.classes) > 1 else ["angle", "digit"]
        colour = st.segmented_control("Colour", modes, default="angle", key="z_colour", **KEPT)
    st.segmented_control(
        "Space",
        ["2-D", "3-D"],
        default="2-D",
        key="z_space",
        help="Two components that hold most of the variance, or three: drag to turn the space.",
        **KEPT,
    )
    if not choice.objects:
        st.segmented_control(
            "A view is placed by",
            ["all its views", "itself alone"],
            default="all its views",
            key="z_from",
            disabled=found.pooled is None,
            help="The posterior given all sixteen views of its digit, or the encoder's estimate "
            "from this one image.",
            **KEPT,
        )
thing = "an object" if choice.objects else "a digit"
with head:
    frame.heading(
        "Latents",
        f"Each point is one view of {thing}, as the model keeps it. Click one to see its "
        f"{thing.split()[-1]}.",
        help="Local channels are z¹ to zᴶ, global ones zᴶ⁺¹ to zᴸ in the paper.",
    )
if choice.objects:
    placing.page(choice)
    st.stop()
if choice.title in SPLIT:
    st.caption(SPLIT[choice.title])

P, first = len(views), int((views.labels == 3).int().argmax())  # a three, if there is one
if st.session_state.get("z_digit", 0) >= P:
    st.session_state["z_digit"] = first

spaces, legend = st.container(), st.container()
with frame.card("This digit", "The point that stands out, true and as the model makes it again."):
    which, turn, some = st.columns([2, 2, 2], gap="medium")
    with which:
        digit = st.slider(
            "Digit", 0, P - 1, first, key="z_digit", bind="query-params", persist_state="session"
        )
    with turn:
        degrees = st.select_slider(
            "View",
            [float(d) for d in DEGREES],
            key="z_view",
            format_func=lambda d: f"{d:g}°",
            bind="query-params",
            persist_state="session",
        )
    with some:
        count = st.segmented_control(
            "Views given to the model",
            list(VIEWS_GIVEN),
            default=16,
            key="z_given",
            **KEPT,
        )
    view = int(np.argmin(np.abs(DEGREES - degrees)))
    given = np.isin(np.arange(16), VIEWS_GIVEN[count])
    with spaces:  # only now it is known which point a link means
        loops.loops(
            "z_spaces",
            [space(choice, block, views) for block in found.blocks],
            (digit, view),
            [f"digit {p}, a {label}" for p, label in enumerate(views.labels.tolist())],
            LABELS,
            spatial=st.session_state["z_space"] == "3-D",
            clicked=choose,
        )
    if colour == "angle":
        legend.html(figures.angle_legend())
    elif colour == "class":
        palette = figures.several(10)
        names = [str(k) for k in choice.classes]
        legend.html(figures.chips(names, [palette[k] for k in choice.classes]))
    this_digit(choice, views, digit, view, given)

with frame.card(
    "Channel by channel",
    "Dots are what the encoder says of each view, with its error; the line is what the model "
    "concludes from the filled ones, and the band how sure it is."
    if "local" in choice.load().blocks
    else "Dots are what the encoder says of each view, with its error. This model draws no "
    "conclusion from the other views of a digit.",
):
    channel_panels(choice, digit, given)

if choice.load().divides_channels:
    traversals(
        choice.load(),
        found.pooled[digit],
        view,
        strongest(choice)[:CHANNELS],
        LABELS,
        colours.angle_colours(ANGLES),
        "angle",
    )

matrices(choice)

with frame.card(
    "How well are angle and style kept apart?",
    "The same questions to every model, with the answer that would be best.",
):
    disentanglement()
