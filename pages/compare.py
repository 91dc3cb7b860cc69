"""Compare models: the paper's table beside ours, the same subjects through each, and cost."""

import streamlit as st

from ui import compare
from ui.catalog import subjects
from ui.shell import frame, notices

frame.guard()
head, side = st.columns([2.2, 1.3], vertical_alignment="center")
with head:
    frame.heading("Compare", "Every model on the same pictures that none of them was trained on.")
with side:
    group = subjects.switch("compare")
chosen = compare.evaluation.choose(group)
if group == "Digits":
    compare.table_cards.paper_table(chosen)
    compare.pictures_card.pictures(chosen)
    compare.table_cards.one_view()
    compare.curve_cards.digits_by_views(chosen)
    compare.curve_cards.scaling(chosen)
elif not chosen:
    frame.empty("No model chosen", "Choose models above to see the same subjects through each.")
else:
    same = [each for each in chosen if each.collection == chosen[0].collection]
    if len(same) < len(chosen):
        notices.note(f"Only models of the same data can be compared: those of {chosen[0].name}.")
    compare.pictures_card.pictures(same)
    compare.curve_cards.subjects_by_views(same)
