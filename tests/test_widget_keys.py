"""A widget that shows what is changed elsewhere, and a browser that has not heard of the change."""

from streamlit.testing.v1 import AppTest


def script() -> None:
    import streamlit as st

    from ui.shell import widget_keys

    st.session_state.setdefault("value", 2)

    def add() -> None:
        st.session_state["value"] += 1

    def take(value: int) -> None:
        st.session_state["value"] = value

    st.slider("Count", 1, 9, **widget_keys.showing("count", st.session_state["value"], take))
    st.button("Add", key="add", on_click=add)


def test_a_late_message_of_the_browser_does_not_undo_a_change():
    app = AppTest.from_function(script).run()
    old = app._tree  # what the browser shows, and says with every click
    app.button(key="add").click().run()
    assert app.session_state["value"] == app.slider[0].value == 3
    app._tree = old
    app.slider[0].set_value(2)
    app.button(key="add").click().run()
    assert app.session_state["value"] == app.slider[0].value == 4


def test_the_persons_own_change_keeps_the_widget():
    app = AppTest.from_function(script).run()
    app.button(key="add").click().run()
    key = app.slider[0].key
    app.slider[0].set_value(7).run()
    assert app.session_state["value"] == app.slider[0].value == 7
    assert app.slider[0].key == key
