"""Links, Back and the menu, and journeys on the other pages, in a real browser."""

import re

from playwright.sync_api import Page, expect

from fgpvae.data.collections import Digits
from tests.browser import Tabs, Visit, box, button, click_point, in_link, linked, settle
from tests.waiting import at_rest, eventually

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


def to_page(page: Page, name: str) -> None:
    page.locator(".st-key-shell-menu").get_by_role("link", name=name, exact=True).click()
    page.get_by_role("heading", level=1, name=name).wait_for()
    settle(page)


def pick(page: Page, label: str, name: str) -> None:
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=name, exact=True).click()
    settle(page)


def test_a_link_back_and_forward_restore_what_was_chosen_on_each_page(tabs: Tabs, address: str):
    visit = Visit(tabs, address, permissions=["clipboard-read", "clipboard-write"])
    page = visit.open("/rotate?model=best&subject=new-3-6&views=0_3")
    pick(page, "Beside", "paper")
    expect(page).to_have_url(re.compile("rotate.beside=paper"))
    pick(page, "Model", "wide")
    expect(page).to_have_url(re.compile("model=wide"))
    settle(page)
    page.locator("[data-name=new-3-4]").first.click()
    expect(page).to_have_url(re.compile("subject=new-3-4"))
    settle(page)
    to_page(page, "How it works")
    to_page(page, "Train")
    page.locator(".st-key-train-preset").get_by_text("The paper's", exact=True).click()
    expect(page).to_have_url(re.compile("train.preset=The"))
    settle(page)
    to_page(page, "Compare")
    page.get_by_role("button", name="cvae", exact=False).first.click()
    page.keyboard.press("Backspace")
    expect(page).to_have_url(re.compile("compare.digits="))
    settle(page)
    compared = page.url
    button(page, "Copy link").click()
    eventually(lambda: page.evaluate("navigator.clipboard.readText()") == compared)
    to_page(page, "Latents")
    page.evaluate("history.back()")
    expect(page).to_have_url(compared)
    page.evaluate("history.back()")
    expect(page).to_have_url(re.compile(r"/train\?train.preset=The[^&]*$"))
    page.evaluate("history.back()")
    expect(page).to_have_url(re.compile(r"/how\?screen=1$"))
    page.evaluate("history.back()")
    second = page.get_by_role("combobox", name="Beside", exact=True)
    expect(page).to_have_url(re.compile("model=wide.*rotate.beside=paper.*subject=new-3-4"))
    expect(second).to_have_value("paper")
    page.evaluate("history.back()")
    expect(page).to_have_url(re.compile("model=best.*subject=new-3-6&views=0_3$"))
    expect(page.locator("[data-name=new-3-6][aria-pressed=true]").first).to_be_visible()
    page.evaluate("history.forward()")
    expect(page).to_have_url(re.compile("model=wide.*rotate.beside=paper.*subject=new-3-4"))
    visit.close()


def test_a_phones_menu_closes_after_a_page_was_chosen(tabs: Tabs, address: str):
    visit = Visit(tabs, address, **PHONE)
    page = visit.open("/how", ready=False)
    page.get_by_test_id("stExpandSidebarButton").tap()
    menu = page.locator(".st-key-shell-menu")
    expect(menu).to_be_in_viewport()
    menu.get_by_role("link", name="Train", exact=True).tap()
    page.get_by_role("heading", level=1, name="Train").wait_for()
    expect(menu).not_to_be_in_viewport()
    visit.close()


def test_evaluate_adds_no_name_twice_and_says_where_the_result_is(visit: Visit):
    page = visit.open("/compare?compare.digits=paper", ready=False)
    page.set_viewport_size({"width": 1024, "height": 768})  # of a projector
    expect(page.get_by_role("radio", name="Films")).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 1360, "height": 900})
    page.get_by_role("button", name="Evaluate", exact=True).click()
    expect(page.get_by_text("Evaluated: paper.")).to_be_in_viewport()
    settle(page)
    chart = page.locator(".st-key-compare-chart-table")
    expect(chart.locator(".legendtext", has_text="evaluated here")).to_be_visible()
    labels = at_rest(chart.locator(".annotation").all_text_contents)
    references = [text for text in labels if re.search(r" \d\.\d{4}$", text)]
    assert any("mean image" in text for text in references)
    names = [text for text in labels if text not in references]
    assert names[0] == "FGP-VAE · paper"
    assert len(set(names)) == len(names)
    assert "paper" not in names


def points_of(page: Page) -> list[str]:
    """Angle and value of each point that was clicked, as its button says."""
    labels = page.locator(".points button").evaluate_all("all => all.map(each => each.ariaLabel)")
    return [re.sub(r"point at (\S+) degrees, value (\S+);.*", r"\1_\2", label) for label in labels]


def test_points_are_clicked_into_the_process_moved_and_removed(visit: Visit):
    page = visit.open("/how?screen=2&points=30_1.5_200_-9", ready=False)
    points = page.locator(".points button")
    expect(points).to_have_count(2)
    assert points_of(page) == ["30_1.5", "200_-3"]  # what is out of reach comes to the edge
    button(page, "Clear").click()
    in_link(page, "points=none")
    stage = box(page.locator(".stage[tabindex]"))  # not that of the film beside it
    for across, down in ((0.2, 0.3), (0.5, 0.7), (0.8, 0.45)):
        page.mouse.click(stage["x"] + across * stage["width"], stage["y"] + down * stage["height"])
    expect(points).to_have_count(3)
    expect(page.locator(".evidence")).to_contain_text("log Z")
    in_link(page, f"points={'_'.join(points_of(page))}")
    evidence, dot = page.locator(".evidence").inner_text(), box(points.first)
    page.mouse.move(dot["x"] + 9, dot["y"] + 9)
    page.mouse.down()
    page.mouse.move(dot["x"] + 109, dot["y"] + 59, steps=4)
    page.mouse.up()
    expect(page.locator(".evidence")).not_to_have_text(evidence)
    in_link(page, f"points={'_'.join(points_of(page))}")
    points.last.dblclick()
    expect(points).to_have_count(2)
    points.last.press("Delete")
    button(page, "Add a point").press("Enter")  # as far from the first as can be
    page.keyboard.press("ArrowUp")  # it has the focus
    kept = points_of(page)
    assert len(kept) == 2
    in_link(page, f"points={'_'.join(kept)}")
    page.get_by_role("link", name="Train", exact=True).click()
    page.get_by_role("heading", level=1, name="Train", exact=True).wait_for()
    page.get_by_role("link", name="How it works", exact=True).click()
    expect(points).to_have_count(2)
    assert points_of(page) == kept


def test_keys_that_are_held_down_leave_a_page_that_answers(visit: Visit):
    """Streamlit forgets a browser that is 500 messages behind, which then waits for ever."""
    page = visit.open("/latents", ready=False)
    page.locator(".st-key-latents-local .main-svg").first.wait_for()
    settle(page)
    angle = page.get_by_role("slider", name="Angle")
    angle.focus()
    for _ in range(3):
        for key in ("ArrowRight", "ArrowLeft") * 20:
            page.keyboard.press(key, delay=30)
    page.keyboard.press("End")
    settle(page)
    portrait = page.locator(".st-key-shell-card-latents-portrait")
    expect(portrait).to_contain_text("337.5°, redrawn")


def test_a_point_of_latents_picks_its_digit_and_back_restores_the_model(visit: Visit):
    page = visit.open("/latents?model=runs%2Fturning", ready=False)
    page.locator(".st-key-latents-local .main-svg").first.wait_for()
    settle(page)
    before = linked(page, "subject")
    click_point(page, "latents-local", 5)
    expect(page).not_to_have_url(re.compile(f"subject={before}(&|$)"))
    settle(page)
    digit = Digits((3, 7)).find(linked(page, "subject"))
    shown = page.locator(".st-key-shell-card-latents-portrait img").first
    expect(shown).to_have_attribute("alt", re.compile(f"^{digit.name}"))
    expect(shown).to_be_in_viewport()
    model = page.get_by_role("combobox", name="Model")
    model.click()
    page.get_by_role("option", name="runs/vae", exact=True).click()
    page.wait_for_url(re.compile("model=runs%2Fvae"))
    settle(page)
    page.get_by_role("link", name="How it works", exact=True).click()
    page.wait_for_url(re.compile("/how"))
    for name in ("runs/vae", "runs/turning"):  # Back to the page, then to the model before
        page.evaluate("history.back()")
        expect(model).to_have_value(name)
