"""The text About: the paper, the licence, and a glossary."""

import streamlit as st

TITLE = "Factorized Gaussian Process Variational Autoencoders"
CITED = (
    f"[{TITLE}](https://arxiv.org/abs/2011.07255), Metod Jazbec, Michael Pearce and Vincent "
    "Fortuin, 3rd Symposium on Advances in Approximate Bayesian Inference, 2020"
)

GLOSSARY = {
    "digit": "One handwritten numeral, number p of P. A rotation does not change its shape.",
    "view": "One picture of a digit, at one angle w; a digit has Q of them.",
    "channel": "One of the L numbers, zˡ, with which the model describes a view.",
    "local": "Channels 1 to J, which change with the angle.",
    "global": "Channels J+1 to L, which all views of a digit share: its style.",
    "style": "How this three differs from other threes: slant, width, stroke weight.",
    "encoder, decoder": "Two networks. One estimates the channels from a picture, q̃(z | y); "
    "the other draws a picture from channels, p(y | z).",
    "prior, posterior": "What is assumed about the channels before any view is seen, p(z | x), "
    "and what is known after some were, q(z | y, x).",
    "Gaussian process": "A prior over curves: it says how alike a channel is at two angles, "
    "and so what to expect between the given views.",
    "evidence": "How well the views of a digit fit together under the prior, log Z. Training "
    "raises a lower bound on the evidence of the pictures, the ELBO.",
}


@st.dialog("About", width="large")
def about() -> None:
    st.markdown(
        f"**fgpvae** is a package and a laboratory for the model of the paper {CITED}. "
        "The paper's own program is [metodj/FGP-VAE](https://github.com/metodj/FGP-VAE)."
    )
    st.markdown(
        "The software is under the MIT licence. The digits are from MNIST by Yann LeCun, Corinna "
        "Cortes and Christopher J.C. Burges, under "
        "[CC BY-SA 3.0](https://creativecommons.org/licenses/by-sa/3.0/)."
    )
    st.subheader("Ten words", anchor=False)
    st.markdown("\n".join(f"- **{word}** {meaning}" for word, meaning in GLOSSARY.items()))
