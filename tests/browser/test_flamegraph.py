"""The flame graph in a real browser: it zooms, explains and searches, and asks for nothing."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from assay.report.profile_exports import flamegraph
from tests.known_profile import a_source

WIDTH = 1180


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    assert path, "chromium is not installed: `make browser` installs it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    out = io.BytesIO()
    flamegraph.write(a_source(), out)
    file = tmp_path / "flame.svg"
    file.write_bytes(out.getvalue())
    wrong: list[str] = []
    page = browser.new_page(viewport={"width": 1240, "height": 400})
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url))
    page.goto(file.as_uri())
    yield page
    page.close()
    assert wrong == [file.as_uri()]


def frame(page: Page, label: str) -> Locator:
    return page.locator("#frames > g").filter(has_text=label).first


def width(page: Page, label: str) -> float:
    box = frame(page, label).locator("rect").bounding_box()
    assert box is not None
    return box["width"]


def test_frames_are_as_wide_as_their_samples(page: Page) -> None:
    assert width(page, "ExecutorRun") == pytest.approx(WIDTH, abs=2)
    assert width(page, "ExecHashJoin") == pytest.approx(WIDTH * 0.9, abs=2)
    assert width(page, "copy_to_user") == pytest.approx(WIDTH * 0.2, abs=2)


def test_a_click_zooms_and_escape_shows_all(page: Page) -> None:
    frame(page, "heap_getnext").locator("rect").click()
    assert width(page, "heap_getnext") == pytest.approx(WIDTH, abs=2)
    assert width(page, "ExecHashJoin") == pytest.approx(WIDTH, abs=2)
    assert width(page, "copy_to_user") == pytest.approx(WIDTH * 2 / 5, abs=2)
    assert not frame(page, "0x7f0000000000").locator("rect").is_visible()
    page.keyboard.press("Escape")
    assert width(page, "heap_getnext") == pytest.approx(WIDTH / 2, abs=2)


def test_hovering_tells_the_figures(page: Page) -> None:
    frame(page, "copy_to_user").locator("rect").hover()
    text = page.locator("#caption").text_content()
    assert text == "copy_to_user: 2 samples · 20.00% · 0.004 s of CPU · kernel I/O · [kernel]"


def test_search_counts_what_it_found_once(page: Page) -> None:
    page.fill("#search", "GETNEXT|copy_")
    assert page.locator("#matched").text_content() == "found in 50.0 % of samples"
    assert page.locator("#frames .found").count() == 2
    page.fill("#search", "(")
    assert page.locator("#matched").text_content() == "not a regular expression"
    page.fill("#search", "")
    assert page.locator("#frames .found").count() == 0
