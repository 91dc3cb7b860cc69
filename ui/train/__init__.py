"""The page Train: a form for a new run, the list of runs, and one of them in detail."""

from ui.train.dialogs import questions
from ui.train.new_run import fill, new_run
from ui.train.run_list import watch
from ui.train.run_state import live

STYLE = """
[class*="st-key-run-"] button { justify-content: flex-start; text-align: left; width: 100%;
  border-radius: 10px; padding: 0.45rem 0.8rem; min-height: 3.1rem; }
[class*="st-key-run-"] button > * { width: 100%; justify-content: flex-start; text-align: left; }
[class*="st-key-run-"] button p { line-height: 1.35; white-space: normal; }
.bar { height: 6px; border-radius: 3px; background: light-dark(#e6e6e0, #262c39); }
.bar > div { height: 100%; border-radius: 3px; background: #2b7a9e; }
/* a look every second is no reason to flicker */
[data-testid="stStatusWidget"] { visibility: hidden; }
[class*="st-key-card-"] [data-stale="true"] { opacity: 1 !important; transition: none !important; }
"""

__all__ = ["STYLE", "fill", "live", "new_run", "questions", "watch"]
