"""Screen 1: uses of the model, its diagram, and the formulas of its parts."""

import streamlit as st

from fgpvae.data import ANGLES
from ui.catalog import models, subjects
from ui.components import pictures
from ui.how.cards import a_three, card, formulas
from ui.inference import cached, strip
from ui.shell import frame, palette

CAN_DO = (
    "Show the model one picture of a digit, and it draws the digit at every angle. The upper "
    "row is the truth, the lower what the model draws from the view with a bar, of a digit it has "
    "never seen."
)
LINKS = {  # pages to try it on, by group of models
    "Digits": ("rotate", "Turn a digit"),
    "": ("extrapolate", "Bring your own digit"),
    "Objects": ("rotate", "Turn an object"),
    "Films": ("rotate", "Fill in a film"),
}
NEW_DIGIT = (
    "The earlier GP-VAE of Casale and others (2018) learns a vector for every training digit: for "
    "a new digit it must be trained again. Here the kernels contain nothing about any single "
    "digit. A new one is inferred in one pass, through the encoder and a closed formula: from one "
    "view, from sixteen, or from none, which gives the prior."
)
WHAT_FOR = (
    "A rotation turns the picture of a digit better than any model. It cannot turn an object in "
    "space, whose far side one view hides, nor fill in a film. There the posterior shows what the "
    "views leave open: its samples are different objects that look the same from the given side, "
    "or different paths through the given frames."
)
BATCHES = (
    "The bound is a sum over digits. A batch consists of a few whole digits with all their views "
    "(20 digits with 11 views in the paper), and its gradient is right on average. No step needs "
    "the whole data set in memory."
)
PARTS = (
    (
        "The latent code",
        "L numbers for each view; the first J are local.",
        r"\mathbf{z}=\big(\underbrace{z^1,\dots,z^J}_{\text{local}},\;"
        r"\underbrace{z^{J+1},\dots,z^L}_{\text{global}}\big)",
        "fgpvae.FGPVAEConfig",
    ),
    (
        "The likelihood",
        "A picture is what the decoder draws, plus noise.",
        r"p_\psi(\mathbf{y}_q|\mathbf{z}_q)=\mathcal{N}\big(\mathbf{y}_q\,|\,"
        r"\mu_\psi(\mathbf{z}_q),\,\sigma_y^2\mathbf{I}_K\big)",
        "fgpvae.models.Model.decode",
    ),
    (
        "What the encoder says",
        "What the encoder says about one view, in the form of a likelihood.",
        r"\tilde q_\phi(\mathbf{z}_q|\mathbf{y}_q)=\prod_{l=1}^{L}\mathcal{N}\big(z_q^l\,|\,"
        r"\mu_\phi^l(\mathbf{y}_q),\,\sigma_\phi^l(\mathbf{y}_q)^2\big)",
        "fgpvae.models.Model.encode",
        "It stands in for the true likelihood, which is not Gaussian in z.",
    ),
    (
        "The approximate posterior",
        "What all views of a digit say together, combined with the prior.",
        r"q(\mathbf{Z}_p|\mathbf{Y}_p,\mathbf{X}_p)=\frac{\prod_{q=1}^{Q}\tilde q_\phi("
        r"\mathbf{z}_q|\mathbf{y}_q)\;p_\theta(\mathbf{Z}_p|\mathbf{X}_p)}"
        r"{Z_{\phi,\theta}(\mathbf{Y}_p,\mathbf{X}_p)}",
        "fgpvae.models.FGPVAE.posterior",
        "This step is exact: a Gaussian process for each local channel (screen 2) times a "
        "Gaussian for each global channel (screen 5).",
    ),
)
STYLE = """<style>
.flow, .flow > div { display: flex; align-items: center; justify-content: center; gap: 0.7rem; }
.flow { font-size: 0.85rem; line-height: 1.4; text-align: center; }
.flow > .both { flex-direction: column; }
.flow p { border: 1px solid; border-radius: 10px; padding: 0.6rem 0.8rem; margin: 0; }
.flow img { width: 56px; border: 3px solid; border-radius: 5px; }
@media (max-width: 640px) {
  .flow { flex-direction: column; }
  .flow > b { transform: rotate(90deg); }
}
</style>"""


def _view(at: int) -> str:
    """A three at one of the sixteen angles, framed in the colour of the angle."""
    colour = palette.angle_colour(ANGLES[at])
    return f'<img src="{pictures.address(a_three()[at], 2)}" alt="" style="border-color:{colour}">'


def _box(*lines: str, colour: str = "") -> str:
    style = f' style="border-color:{colour};background:{colour}1f"' if colour else ""
    return f"<p{style}>{'<br>'.join(lines)}</p>"


def diagram() -> str:
    """A diagram in HTML: views, encoder, two posteriors, decoder; vertical on a phone."""
    local, style = palette.LOCAL, palette.GLOBAL
    both = (
        _box("local posterior, z¹ … zᴶ", "J Gaussian processes", "over the angle w", colour=local),
        _box("global posterior, zᴶ⁺¹ … zᴸ", "L − J Gaussians,", "one for all views", colour=style),
    )
    steps = (
        f"<div>{''.join(map(_view, (8, 4, 0)))}</div>",
        _box("encoder", "q̃(z | y)", "μ, σ² of each view"),
        f'<div class="both">{"".join(both)}</div>',
        _box("z at any angle w", "L numbers"),
        _box("decoder", "p(y | z)"),
        _view(6),
    )
    return f'<div class="flow">{"<b>→</b>".join(steps)}</div>{STYLE}'


def the_model() -> None:
    with frame.card("What you can do", CAN_DO):
        if choice := models.find(models.BEST):
            seen = cached.imagined(choice, subjects.first(choice), [0])
            st.container(key="how.redrawn").html(strip.redrawn(seen, choice.collection))
        with st.container(horizontal=True, gap="medium"):
            for group, (page, label) in LINKS.items():
                if not group or (found := models.baselines(group)):
                    link = {"model": found[0]} if group else None
                    st.page_link(frame.page(page), label=label, query_params=link)
    with frame.card(
        "From some views to any view",
        "Warm colours: what turns with the digit. Cool colours: what stays the same.",
    ):
        st.html(diagram())
    left, right = st.columns(2, gap="medium")
    with left, card("Why use a model, if a rotation can turn a digit?"):
        st.markdown(WHAT_FOR)
    with right, card("Why a new digit needs no retraining"):
        st.markdown(NEW_DIGIT)
    formulas(*PARTS[:2])
    formulas(*PARTS[2:])
    with frame.card("Batches of whole digits"):
        st.markdown(BATCHES)
