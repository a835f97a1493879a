"""The article of a study in a real browser: it draws, asks no network, and fits a narrow window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from assay.report.study.build import build_study
from tests.browser.test_report import HOSTILE, NARROW, Opened, chromium
from tests.studies import figure, two_engines, whole_study


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield started
        started.close()


def test_an_article_is_drawn_read_and_taken_along(browser: Browser, tmp_path: Path) -> None:
    page_file = Path(build_study(whole_study(tmp_path))["report"])
    opened = Opened(browser)
    page = opened.show(page_file)
    for name in ("utilisation-share", "states-times", "states-seconds", "threads-sweep"):
        box = page.locator(f"[id='chart-{name}'] svg").bounding_box()
        assert box is not None, name
        assert box["width"] > 500, name
    assert "the article" in page.locator("#chart-utilisation-share").inner_text()
    with page.expect_download() as taken:
        page.locator("#composite .take a").first.click()
    assert taken.value.suggested_filename.endswith(".csv")
    page.locator("#short ol a").first.click()
    assert page.evaluate("location.hash") == "#composite"
    assert opened.wrong == []
    narrow = Opened(browser, NARROW)
    shown = narrow.show(page_file)
    assert shown.evaluate("document.documentElement.scrollWidth") <= NARROW
    assert narrow.wrong == []


def test_nothing_that_a_study_says_is_run(browser: Browser, tmp_path: Path) -> None:
    made = two_engines(tmp_path)
    made.failed("full", {"engine": HOSTILE}, HOSTILE)
    document = figure("composite", "full") | {"title": HOSTILE}
    page_file = Path(build_study(made.write([document]))["report"])
    opened = Opened(browser)
    page = opened.show(page_file)
    assert page.title() == "One stream & several"
    assert opened.wrong == []
