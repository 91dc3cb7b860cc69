"""Batches that are made before they are needed."""

import threading

import pytest

from fgpvae import data, presets
from fgpvae.ahead import DEPTH, Ahead
from fgpvae.batches import FixedViews
from fgpvae.training import Trainer


def test_the_next_batches_are_made_while_one_is_worked_on():
    made, enough = [], threading.Event()

    def make(step: int) -> str:
        made.append((step, threading.current_thread() is threading.main_thread()))
        if step == 4 + DEPTH:
            enough.set()
        return f"batch {step}"

    ahead = Ahead(make, steps=9)
    assert ahead.get(4) == "batch 4"
    assert enough.wait(60)  # nobody has asked for these yet
    assert made == [(step, False) for step in range(4, 5 + DEPTH)]
    assert [ahead.get(step) for step in range(5, 9)] == [f"batch {step}" for step in range(5, 9)]
    assert [step for step, _ in made] == [4, 5, 6, 7, 8]  # each once, and none after the last


def test_any_step_can_be_asked_for_and_errors_arrive_where_it_is():
    def make(step: int) -> int:
        if step == 3:
            raise ValueError("broken")
        return step

    ahead = Ahead(make, steps=100)
    assert [ahead.get(step) for step in (2, 50, 50, 0)] == [2, 50, 50, 0]
    with pytest.raises(ValueError, match="broken"):
        ahead.get(3)
    assert ahead.get(4) == 4


def test_training_does_not_depend_on_who_makes_the_batches():
    views = data.shuffled()[:12]
    config = presets.preset("quick", ["model.network.widths=[16]", "training.epochs=2"])
    losses = []
    for slow in (False, True):
        source = FixedViews(views, 5, 0, strength=1.0)
        assert source.slow
        source.slow = slow
        trainer = Trainer(config, source)
        losses.append([step.loss for step in trainer.steps()])
        assert trainer.waited > 0
    assert losses[0] == losses[1]
    assert not FixedViews(views, 5, 0).slow
