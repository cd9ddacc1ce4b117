"""The page in a real browser."""

import shutil
from contextlib import ExitStack

import pytest

from hyperlvq.report.page import write_report

DARK_PAPER, LIGHT_PAPER = "rgb(20, 23, 27)", "rgb(255, 255, 255)"


@pytest.fixture(scope="module")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("needs a Chromium on the PATH")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(study_folder, published_path, tmp_path_factory):
    output = tmp_path_factory.mktemp("page") / "report.html"
    return write_report(study_folder, output, published_path)[-1].as_uri()


@pytest.fixture
def open_page(chromium, address):
    with ExitStack() as pages:

        def open_with(**options):
            page = pages.enter_context(chromium.new_page(**options))
            page.goto(address)
            return page

        yield open_with


@pytest.fixture
def page(open_page):
    return open_page()


def column(page, number):
    cells = page.locator(f".per-set tbody tr > :nth-child({number})")
    return cells.evaluate_all("cells => cells.map(c => c.dataset.value ?? c.textContent)")


def paper_colour(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_the_page_loads_without_errors_or_requests(chromium, address):
    problems, requests = [], []
    with chromium.new_page() as page:
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        page.wait_for_load_state("networkidle")

    assert problems == []
    assert requests == [address]


def test_a_header_sorts_both_ways_by_pointer_and_keyboard(page):
    names, header = column(page, 1), page.locator(".per-set thead th").nth(3)

    header.get_by_role("button").click()
    falling = [float(value) for value in column(page, 4)]
    order = header.get_attribute("aria-sort")
    header.get_by_role("button").click()
    rising = [float(value) for value in column(page, 4)]

    assert falling == sorted(falling, reverse=True)
    assert rising == sorted(rising)
    assert (order, header.get_attribute("aria-sort")) == ("descending", "ascending")
    assert page.locator(".per-set th[aria-sort]").count() == 1

    page.locator(".per-set thead button").first.focus()
    page.keyboard.press("Enter")
    assert column(page, 1) == names
    page.keyboard.press("Enter")
    assert column(page, 1) == names[::-1]


@pytest.mark.parametrize(("points_at", "width"), [("hover", 1280), ("tap", 375)])
def test_pointing_at_a_point_shows_its_name_and_both_accuracies(open_page, points_at, width):
    page = open_page(viewport={"width": width, "height": 700}, has_touch=True)
    point = page.locator(".points").nth(1).locator("circle").first
    said = point.get_attribute("aria-label")

    getattr(point, points_at)()

    shown = page.locator("#tip > *").all_inner_texts()
    assert page.locator("#tip").is_visible()
    assert shown[0] == point.get_attribute("data-set")
    assert said == f"{shown[0]}: {shown[1]}; {shown[2]}"
    assert page.locator("circle.linked").count() == 5


def test_the_keyboard_reaches_every_point(page):
    circles, tip = page.locator(".points").first.locator("circle"), page.locator("#tip")

    circles.first.focus()
    assert tip.locator("b").inner_text() == circles.nth(0).get_attribute("data-set")
    page.keyboard.press("ArrowRight")
    assert tip.locator("b").inner_text() == circles.nth(1).get_attribute("data-set")
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def test_without_scripts_points_have_titles(open_page):
    page = open_page(java_script_enabled=False)

    title = page.locator(".points circle title").first.text_content()

    assert title.startswith("set-0")
    assert "features + RLS 0." in title


def test_dark_mode_has_dark_paper_and_light_figures(open_page):
    light, dark = open_page(color_scheme="light"), open_page(color_scheme="dark")

    assert paper_colour(light) == LIGHT_PAPER
    assert paper_colour(dark) == DARK_PAPER
    for page, ink in ((light, "rgb(27, 32, 38)"), (dark, "rgb(228, 232, 237)")):
        text = page.locator("figure svg text[style*=currentColor]").first
        assert text.evaluate("text => getComputedStyle(text).fill") == ink


@pytest.mark.parametrize("width", [320, 375, 768, 1280])
def test_only_tables_and_diagrams_scroll_sideways(open_page, width):
    page = open_page(viewport={"width": width, "height": 700})
    page.locator("details summary").click()

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_print_is_light_whole_and_without_tooltips(open_page):
    page = open_page(color_scheme="dark", viewport={"width": 1047, "height": 700})
    page.locator(".points circle").first.hover()
    page.emulate_media(media="print")

    assert paper_colour(page) == LIGHT_PAPER
    assert page.locator("#tip").is_hidden()
    assert page.locator("nav").is_hidden()
    box = page.locator(".per-set")
    assert box.evaluate("box => getComputedStyle(box).maxHeight") == "none"
    assert box.evaluate("box => box.querySelector('table').scrollWidth <= box.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
