"""Screen 1: the whole model in one picture, and its parts as formulas."""

import streamlit as st

from fgpvae.data import ANGLES
from ui.catalog import models
from ui.components import pictures, sketch
from ui.how.cards import a_three, card, formula
from ui.shell import frame, palette

NEW_DIGIT = (
    "In Casale's GP-VAE each digit has a vector of its own, a row of D in Σ = DDᵀ, which is "
    "found by training: a new digit means training again. Here the kernels contain nothing "
    "about any single digit. All that is known about a digit comes from its views, through the "
    "encoder and a closed formula. A new digit is therefore inferred in one pass: from one "
    "view, from sixteen, or from none, which gives the prior."
)
WHAT_FOR = (
    "A rotation turns the picture of a digit better than any model. It cannot turn an object "
    "in space, because one view does not show all of it. There the posterior says what the "
    "views leave open: its samples are different objects that look the same from the given "
    "side."
)
BATCHES = (
    "The prior is a product over digits, and the bound is a sum over digits. A batch consists "
    "of a few whole digits, each with all its views (20 digits with 11 views in the paper), "
    "and its gradient is right on average. No step needs the whole data set in memory."
)


def _box(x: int, y: int, width: int, height: int, colour: str = "") -> str:
    fill = f'fill="{colour}" fill-opacity=".12" stroke="{colour}"' if colour else 'class="line"'
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="10" {fill}/>'


def _view(x: int, y: int, at: int) -> str:
    """A three at one of the sixteen angles, framed in the colour of the angle."""
    place = f'x="{x}" y="{y}" width="56" height="56"'
    return (
        f'<image href="{pictures.address(a_three()[at], 2)}" {place}/><rect {place} rx="5" '
        f'fill="none" stroke="{palette.angle_colour(ANGLES[at])}" stroke-width="3"/>'
    )


def _words(x: float, y: float, *lines: str) -> str:
    spans = "".join(
        f'<tspan x="{x}" dy="{17 if index else 0}">{line}</tspan>'
        for index, line in enumerate(lines)
    )
    return f'<text x="{x}" y="{y}" text-anchor="middle">{spans}</text>'


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="line" marker-end="url(#tip)"/>'


TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" class="ink"/></marker></defs>'
)
LABEL = (
    "Views go through the encoder to a local and a global posterior; both together are z, from "
    "which the decoder draws the view at any angle"
)
WIDTH = 640  # pixels of a screen below which the picture stands on end


def picture() -> str:
    """Views through encoder, two posteriors and decoder, as SVG in the colours of the theme."""
    show = f"<style>.tall{{display:none}}@media(max-width:{WIDTH}px)"
    show += "{.wide{display:none}.tall{display:block}}</style>"
    return (
        f'{show}<svg class="wide" viewBox="0 0 850 256" role="img" aria-label="{LABEL}">'
        f'{TIP}{_wide()}</svg><svg class="tall" viewBox="0 0 320 606" role="img" '
        f'aria-label="{LABEL}">{(TIP + _tall()).replace("tip", "tip-tall")}</svg>'
    )


def _wide() -> str:
    warm, cool = palette.LOCAL, palette.GLOBAL
    parts = [
        *(_view(14 + 11 * k, 120 - 11 * k, at) for k, at in enumerate((8, 4, 0))),
        _words(52, 205, "Q views y of a digit"),
        _arrow(102, 138, 134, 138),
        _box(138, 96, 104, 84),
        _words(190, 128, "encoder", "q̃(z | y)", "μ, σ² of each"),
        _arrow(242, 120, 290, 74),
        _arrow(242, 156, 290, 202),
        _box(294, 28, 196, 92, warm),
        _words(392, 56, "local posterior, z¹ … zᴶ", "J Gaussian processes", "over the angle w"),
        _box(294, 156, 196, 92, cool),
        _words(392, 184, "global posterior, zᴶ⁺¹ … zᴸ", "L − J Gaussians,", "one for all views"),
        _arrow(490, 74, 540, 116),
        _arrow(490, 202, 540, 160),
        _box(544, 96, 72, 42, warm),
        _box(544, 138, 72, 42, cool),
        _words(580, 122, "local"),
        _words(580, 164, "global"),
        _words(580, 205, "z at any angle w", "L numbers"),
        _arrow(616, 138, 648, 138),
        _box(652, 96, 92, 84),
        _words(698, 133, "decoder", "p(y | z)"),
        _arrow(744, 138, 776, 138),
        _view(780, 110, 6),
        _words(808, 205, "its view", "at w"),
    ]
    return "".join(parts)


def _tall() -> str:
    warm, cool = palette.LOCAL, palette.GLOBAL
    parts = [
        *(_view(68 + 62 * k, 4, at) for k, at in enumerate((8, 4, 0))),
        _words(160, 80, "Q views y of a digit"),
        _arrow(160, 90, 160, 112),
        _box(88, 116, 144, 62),
        _words(160, 142, "encoder, q̃(z | y)", "μ, σ² of each view"),
        _arrow(130, 178, 90, 206),
        _arrow(190, 178, 230, 206),
        _box(4, 210, 152, 88, warm),
        _words(80, 236, "local, z¹ … zᴶ", "J Gaussian processes", "over the angle w"),
        _box(164, 210, 152, 88, cool),
        _words(240, 236, "global, zᴶ⁺¹ … zᴸ", "L − J Gaussians,", "one for all views"),
        _arrow(90, 298, 122, 326),
        _arrow(230, 298, 198, 326),
        _box(88, 330, 72, 38, warm),
        _box(160, 330, 72, 38, cool),
        _words(124, 354, "local"),
        _words(196, 354, "global"),
        _words(160, 388, "z at any angle w, L numbers"),
        _arrow(160, 398, 160, 420),
        _box(98, 424, 124, 58),
        _words(160, 450, "decoder", "p(y | z)"),
        _arrow(160, 482, 160, 504),
        _view(132, 510, 6),
        _words(160, 586, "its view at w"),
    ]
    return "".join(parts)


def the_model() -> None:
    with frame.card(
        "From some views to any view",
        (
            "Warm colours: what turns with the digit. Cool colours: what stays the same. z = "
            "(local, global)."
        ),
    ):
        sketch.show(picture(), key="how.model", width=980)
    left, right = st.columns(2, gap="medium")
    with left, card("The latent code", "L numbers for each view; the first J are local."):
        formula(
            r"\mathbf{z}=\big(\underbrace{z^1,\dots,z^J}_{\text{local}},\;"
            r"\underbrace{z^{J+1},\dots,z^L}_{\text{global}}\big)",
            "fgpvae.FGPVAEConfig",
        )
    with right, card("The likelihood", "A picture is what the decoder draws, plus noise."):
        formula(
            r"p_\psi(\mathbf{y}_q|\mathbf{z}_q)=\mathcal{N}\big(\mathbf{y}_q\,|\,"
            r"\mu_\psi(\mathbf{z}_q),\,\sigma_y^2\mathbf{I}_K\big)",
            "fgpvae.models.Model.decode",
        )
    left, right = st.columns(2, gap="medium")
    with (
        left,
        card(
            "What the encoder says",
            ("What the encoder says about one view, in the form of a likelihood."),
        ),
    ):
        formula(
            r"\tilde q_\phi(\mathbf{z}_q|\mathbf{y}_q)=\prod_{l=1}^{L}\mathcal{N}\big(z_q^l\,|\,"
            r"\mu_\phi^l(\mathbf{y}_q),\,\sigma_\phi^l(\mathbf{y}_q)^2\big)",
            "fgpvae.models.Model.encode",
        )
        st.caption(
            "It stands in for the true likelihood, which is not Gaussian in z because the "
            "decoder is a network."
        )
    with (
        right,
        card(
            "The approximate posterior",
            ("What all views of a digit say together, combined with the prior."),
        ),
    ):
        formula(
            r"q(\mathbf{Z}_p|\mathbf{Y}_p,\mathbf{X}_p)=\frac{\prod_{q=1}^{Q}\tilde q_\phi("
            r"\mathbf{z}_q|\mathbf{y}_q)\;p_\theta(\mathbf{Z}_p|\mathbf{X}_p)}"
            r"{Z_{\phi,\theta}(\mathbf{Y}_p,\mathbf{X}_p)}",
            "fgpvae.models.FGPVAE.posterior",
        )
        st.caption(
            "It is a product of Gaussians, so this step is exact: a Gaussian process for each "
            "local channel (screen 4) times one Gaussian for each global channel (screen 5)."
        )
    left, right = st.columns(2, gap="medium")
    with left, card("Why a new digit needs no retraining"):
        st.markdown(NEW_DIGIT)
    with right, card("Batches of whole digits"):
        st.markdown(BATCHES)
    with frame.card("Why use a model, if a rotation can turn a digit?"):
        st.markdown(WHAT_FOR)
        found = models.baselines(figures=True)
        if found:
            link = {"model": found[0]}
            st.page_link(frame.page("rotate"), label="Turn an object", query_params=link)
