"""The page Train: a form for a new run, the list of runs, and one of them in detail."""

from ui.train.new_run import new_run
from ui.train.run_cards import questions, watch
from ui.train.run_state import live, say

__all__ = ["live", "new_run", "questions", "say", "watch"]
