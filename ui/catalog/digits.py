"""The digits that come with the package, and a gallery to pick one from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import streamlit as st
import torch

from fgpvae import references
from fgpvae.data import (
    ANGLES,
    DIGITS_PER_CLASS,
    TRAIN_DIGITS,
    UNSEEN_PER_CLASS,
    embedded,
    rotate,
    unseen,
)
from fgpvae.models import MODELS
from ui.catalog.models import Choice
from ui.components.pictures import address
from ui.components.tiles import Tile, tiles

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
FIRST = {0: 3, 1: 2, 2: 27, 3: 2, 4: 4, 5: 18, 6: 11, 7: 30, 8: 4, 9: 8}  # to start with
SHOWN = 20  # in a gallery, until more are asked for
MORE = 60
ON_DIAL, SECOND = "Digit A", "Digit B"
TRAINING, NEW = "Training digits", "New digits"
EXPLAIN = (
    "Training digits are what the model learnt from. New digits are from the MNIST test file: "
    "no model was trained on them."
)


@dataclass(frozen=True)
class Digit:
    """One of the digits of the package."""

    label: int
    number: int  # within its class
    new: bool = True  # of the test file

    @property
    def name(self) -> str:
        """As in links: 3-12, or new-3-12."""
        return f"{'new-' if self.new else ''}{self.label}-{self.number}"

    @property
    def word(self) -> str:
        return WORDS[self.label]

    def hint(self, choice: Choice) -> str:
        kind = "new" if known(self, choice) is False else "training"
        return f"{self.word.capitalize()}, {kind} digit {self.number + 1}"

    @property
    def image(self) -> np.ndarray:
        """Upright, [28, 28]."""
        return _images(self.label, self.new)[self.number]

    def views(self) -> np.ndarray:
        """At the sixteen angles, [16, 28, 28]."""
        return _views(self)

    def at(self, w: float) -> np.ndarray:
        """At any angle, [28, 28]."""
        return rotate(self.image[None], [w])[0, 0]

    def id(self, classes: Sequence[int]) -> torch.Tensor | None:
        """The id [1] by which a model of these classes knows it, if it does."""
        if self.new or self.number >= TRAIN_DIGITS:
            return None
        return torch.tensor([list(classes).index(self.label) * DIGITS_PER_CLASS + self.number])


def parse(name: str | None) -> Digit | None:
    """The digit of a name in a link, or None."""
    new = (name or "").startswith("new-")
    label, _, number = (name or "").removeprefix("new-").partition("-")
    if not (label.isdecimal() and number.isdecimal() and len(label) == 1 and len(number) < 4):
        return None
    count = UNSEEN_PER_CLASS if new else DIGITS_PER_CLASS
    return Digit(int(label), int(number), new) if int(number) < count else None


def upright(label: int, count: int = 16) -> np.ndarray:
    """New digits of a class, [count, 28, 28]."""
    return _images(label, True)[:count]


def mean_image(label: int, w: float) -> np.ndarray:
    """The mean of the training digits of a class at an angle."""
    return references.mean_image(_images(label, False)[:TRAIN_DIGITS], [w])[0]


def trained(choice: Choice) -> int:
    """How many of the digits 0, 1, ... of each of its classes a model learnt from."""
    data = choice.config.data
    return TRAIN_DIGITS if data.split == "continuous" else data.digits


def known(digit: Digit, choice: Choice) -> bool | None:
    """Was the model trained on it? None if only the run itself knew."""
    data = choice.config.data
    if digit.new or digit.label not in choice.classes or digit.number >= trained(choice):
        return False
    # some were kept back for validation, or the files may be any
    unsure = data.validation or (choice.own and data.source not in ("embedded", "openml"))
    return None if unsure else True


def suits(digit: Digit | None, choice: Choice) -> bool:
    """Is this a digit that the model can turn?"""
    if digit is None or digit.label not in choice.classes:
        return False
    return MODELS[choice.config.model.name].takes_new_digits or bool(known(digit, choice))


def first(choice: Choice, label: int | None = None) -> Digit:
    """The digit that a page starts with."""
    if label not in choice.classes:
        label = 3 if 3 in choice.classes else choice.classes[0]
    for digit in (Digit(label, FIRST[label]), Digit(label, FIRST[label], new=False)):
        if suits(digit, choice):
            return digit
    return Digit(label, 0, new=False)


def chosen(key: str, choice: Choice, linked: str | None = None, new_only: bool = False) -> Digit:
    """The digit that was picked under `key`, that of the link, or one to start with.

    A digit that this model cannot turn is not forgotten: the next model may turn it again.
    """
    picked = st.session_state.get(f"{key}.digit") or parse(linked)
    digit = picked
    if digit is None or not suits(digit, choice) or (new_only and not digit.new):
        digit = first(choice, None if digit is None else digit.label)
    pick(key, picked or digit)
    return digit


def picked(key: str) -> Digit | None:
    """The digit that was picked under `key`, whether or not a model can turn it."""
    return st.session_state.get(f"{key}.digit")


def pick(key: str, digit: Digit) -> None:
    st.session_state[f"{key}.digit"] = digit


def gallery(
    key: str, choice: Choice, current: Digit, second: Digit | None = None, new_only: bool = False
) -> None:
    """A card of thumbnails of the model's classes; a click picks a digit under `key`.

    With a `second` digit the two are called A and B, and a switch says which of them is picked.
    """
    classes = sorted(choice.classes)
    takes_new = MODELS[choice.config.model.name].takes_new_digits
    target = key
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if second is not None:
            side = st.segmented_control(
                "Which digit to pick",
                [ON_DIAL, SECOND],
                default=ON_DIAL,
                required=True,
                key=f"{key}.side",
                help="A is on the dial. B is the digit to morph into and to swap with.",
                label_visibility="collapsed",
            )
            target = key if side == ON_DIAL else f"{key}.second"
        label = st.pills(
            "Class",
            classes,
            default=current.label,
            required=True,
            key=f"{key}.class.{'-'.join(map(str, classes))}",
            label_visibility="collapsed",
            wrap=True,  # on a phone, where the last would be out of sight
        )
        new = True
        if takes_new and not new_only:
            kind = st.segmented_control(
                "Kind of digit",
                [NEW, TRAINING],
                default=NEW if current.new else TRAINING,
                required=True,
                key=f"{key}.kind",
                help=EXPLAIN,
                label_visibility="collapsed",
            )
            new = kind == NEW
        elif not takes_new:
            new = False
        more = st.toggle("More", key=f"{key}.more")
    count = min(MORE if more else SHOWN, UNSEEN_PER_CLASS if new else trained(choice))
    shown = [Digit(label, number, new) for number in range(count)]
    for special in (second, current):
        if special and special.label == label and special.new == new and special not in shown:
            shown.insert(0, special)
    tiles(
        [
            Tile(
                digit.name,
                _thumbnail(digit),
                digit.hint(choice),
                selected=digit == current,
                second=digit == second and digit != current,
                badge="" if second is None else "A" * (digit == current) or "B" * (digit == second),
            )
            for digit in shown
        ],
        key=f"{key}.tiles",
        label="Digits to pick from",
        on_pick=lambda name: pick(target, parse(name) or current),
        single=second is None,
    )


@lru_cache(maxsize=20)
def _images(label: int, new: bool) -> np.ndarray:
    return (unseen if new else embedded)((label,)).images


@lru_cache(maxsize=2048)
def _thumbnail(digit: Digit) -> str:
    return address(digit.image, 2)


@lru_cache(maxsize=256)
def _views(digit: Digit) -> np.ndarray:
    return rotate(digit.image[None], ANGLES)[0]
