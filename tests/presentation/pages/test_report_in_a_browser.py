"""The report in a headless browser: it loads nothing else, reports no errors, and its controls work.

The tests need Chromium and playwright: the Debian package `chromium`, and
`.venv/bin/pip install playwright`.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from forestcoll import compare, html_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TOPOLOGIES = ("dgx-a100:boxes=2", "torus:dims=4x4")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no browser: apt-get install chromium")


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is missing: .venv/bin/pip install playwright"
    )
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    found = {}
    for number, topology in enumerate(TOPOLOGIES):
        found[topology] = folder / f"report{number}.html"
        found[topology].write_text(html_report(compare(topology)), encoding="utf-8")
    return found


class Opened:
    """A report in a page of the browser, with everything that the page requested and complained about."""

    def __init__(self, browser: "Browser", report: Path, **options: Any) -> None:
        self.page: Page = browser.new_page(**options)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(report.as_uri())

    def shown(self, selector: str) -> list[str]:
        """Return the rows whose figures are shown in a part of the page."""
        figures = self.page.locator(f"{selector} figure[data-row]").all()
        return sorted(each.get_attribute("data-row") or "" for each in figures if each.is_visible())


@pytest.fixture
def two_boxes(browser: "Browser", reports: dict[str, Path]) -> Iterator[Opened]:
    opened = Opened(browser, reports[TOPOLOGIES[0]])
    yield opened
    assert opened.complaints == []
    opened.page.close()


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_a_report_loads_only_itself_without_errors(
    browser: "Browser", reports: dict[str, Path], topology: str, scheme: str, width: int
) -> None:
    opened = Opened(browser, reports[topology], color_scheme=scheme, viewport={"width": width, "height": 800})
    assert opened.requests == [reports[topology].as_uri()]
    assert opened.complaints == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    opened.page.close()


def test_dark_mode_has_a_dark_background_and_print_a_light_one(browser: "Browser", reports: dict[str, Path]) -> None:
    opened = Opened(browser, reports[TOPOLOGIES[0]], color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    assert opened.page.evaluate(background) == "rgb(20, 23, 27)"
    opened.page.emulate_media(media="print")
    assert opened.page.evaluate(background) == "rgb(255, 255, 255)"
    assert not opened.page.locator("#play").is_visible()
    opened.page.close()


def test_choosing_a_schedule_shows_its_pictures(two_boxes: Opened) -> None:
    choice = two_boxes.page.locator("#choice")
    own, first = two_boxes.page.locator("#main").get_attribute("data-own") or "", choice.input_value()
    assert set(two_boxes.shown("#network")) == set(two_boxes.shown("#sends")) == {own, first}
    choice.select_option(label="direct")
    chosen = choice.input_value()
    assert chosen != first
    assert set(two_boxes.shown("#network")) == set(two_boxes.shown("#sends")) == {own, chosen}
    assert two_boxes.page.locator(f"#comparison tr.chosen[data-rows='{chosen}']").count() == 1
    assert two_boxes.page.locator("#sizes .line.chosen").count() == 2


def test_the_player_steps_through_the_sends(two_boxes: Opened) -> None:
    page = two_boxes.page
    moment, waiting = page.locator("#moment"), page.locator("#sends figure:not([hidden]) .send.waiting")
    assert moment.inner_text() == ""
    page.locator("#next").click()
    assert "nccl-ring: 0 of 15 sends done, 2 under way" in moment.inner_text()
    before = waiting.count()
    page.locator("#next").click()
    assert waiting.count() < before
    page.locator("#back").click()
    assert waiting.count() == before
    page.locator("#time").focus()
    page.keyboard.press("End")
    assert "nccl-ring: 15 of 15 sends done" in moment.inner_text()
    assert "forestcoll: 15 of 15 sends done" in moment.inner_text()
    assert waiting.count() == 0


def test_the_player_plays_and_pauses_by_keyboard(two_boxes: Opened) -> None:
    page = two_boxes.page
    page.locator("#play").focus()
    page.keyboard.press("Enter")
    assert page.locator("#play").inner_text() == "Pause"
    page.wait_for_function("Number(document.getElementById('time').value) > 0")
    page.keyboard.press("Enter")
    assert page.locator("#play").inner_text() == "Play"
    stopped = page.locator("#time").input_value()
    page.wait_for_timeout(200)
    assert page.locator("#time").input_value() == stopped


def test_with_reduced_motion_the_player_goes_from_event_to_event(browser: "Browser", reports: dict[str, Path]) -> None:
    opened = Opened(browser, reports[TOPOLOGIES[0]], reduced_motion="reduce")
    opened.page.locator("#play").click()
    assert "nccl-ring: 0 of 15 sends done, 2 under way" in opened.page.locator("#moment").inner_text()
    opened.page.locator("#play").click()
    assert opened.complaints == []
    opened.page.close()


def test_all_controls_can_be_reached_by_keyboard(two_boxes: Opened) -> None:
    reached = set()
    for _ in range(80):
        two_boxes.page.keyboard.press("Tab")
        reached.add(two_boxes.page.evaluate("document.activeElement.id"))
    assert {"choice", "play", "back", "next", "time"} <= reached


def test_without_a_script_the_page_shows_all_sections(browser: "Browser", reports: dict[str, Path]) -> None:
    opened = Opened(browser, reports[TOPOLOGIES[0]], java_script_enabled=False)
    assert not opened.page.locator("#play").is_visible()
    assert opened.page.locator("#sends figure:not([hidden]) svg").count() == 2
    assert opened.page.locator("#sends figure:not([hidden]) svg").first.is_visible()
    assert opened.page.locator("section h2").count() >= 10
    opened.page.close()
