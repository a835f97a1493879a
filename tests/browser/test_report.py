"""The report in a real browser, without a network: it draws, sorts, zooms, fits a narrow window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

from assay.report.build import build
from assay.report.charts.run import Charts
from tests.loads import an_operation, open_load, write_load
from tests.records import MS, OPERATIONS, truncate_run, write_run
from tests.servers import as_server

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
)
WIDE, NARROW = 1200, 360
DRAWN = "!document.querySelector('.chart:not([data-drawn])')"
MARKS = ".mark-rect path, .mark-area path, .mark-symbol path"


def chromium() -> str:
    path = shutil.which("chromium")
    assert path, (
        "chromium is not installed: `make browser` installs it, the report is not tested without"
    )
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """A page that remembers everything that went wrong in it.

    It is the browser's one page, empty again: a new one would compile the charts' program anew,
    which takes as long as all else that a test does.
    """

    def __init__(self, browser: Browser, width: int = WIDE) -> None:
        self.wrong: list[str] = []
        context = browser.contexts[0] if browser.contexts else browser.new_context()
        self.page: Page = context.pages[0] if context.pages else context.new_page()
        self.page.goto("about:blank")
        self.page.mouse.move(0, 0)
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme="light")
        self.page.unroute("**/*")
        self.page.route("**/*", self._only_files)
        self.page.on(
            "console", lambda message: self.wrong.append(f"{message.type}: {message.text}")
        )
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))

    def _only_files(self, route: Route) -> None:
        if route.request.url.startswith(("file:", "data:", "blob:")):
            route.continue_()
        else:
            self.wrong.append(f"asked the network for {route.request.url}")
            route.abort()

    def show(self, report: Path) -> Page:
        self.page.goto(report.absolute().as_uri())
        self.page.wait_for_function(DRAWN)
        return self.page


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(build(write_run(tmp_path_factory.mktemp("runs")))["report"])


def test_every_chart_is_drawn(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    for name in Charts.POWER_NAMES:
        svg = page.locator(f"#chart-{name} svg")
        box = svg.bounding_box()
        assert box is not None, name
        assert box["width"] > WIDE / 2, name
        assert box["width"] <= WIDE, name
        assert svg.locator(MARKS).count() >= len(OPERATIONS), name
    assert opened.wrong == []


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_chart_of_a_load_is_drawn(browser: Browser, tmp_path: Path, width: int) -> None:
    rows = [
        an_operation(n, n * MS, n * MS // 9, MS + n * 7_919 % MS, retries=n % 2)
        for n in range(9_000)
    ]
    run = write_load(tmp_path, open_load(1_000, 4), rows, 10.0)
    opened = Opened(browser, width)
    page = opened.show(Path(build(run)["report"]))
    for name in (*Charts.LOAD_NAMES, "timeline"):
        box = page.locator(f"#chart-{name} svg").bounding_box()
        assert box is not None, name
        assert width / 2 < box["width"] <= width, name
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="p99.9").click()
    assert page.locator("#operations tbody tr").count() == 2
    assert opened.wrong == []


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_server_shows_its_counters(browser: Browser, tmp_path: Path, width: int) -> None:
    opened = Opened(browser, width)
    page = opened.show(Path(build(as_server(write_run(tmp_path)))["report"]))
    box = page.locator("#chart-counters svg").bounding_box()
    assert box is not None
    assert width / 2 < box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#counters-by-operation").get_by_role("button", name="temporary").click()
    assert page.locator("#counters-by-operation tbody tr td").first.inner_text() == "q01"
    assert page.locator("#cpu-by-owner tr.group").count() == 4
    assert opened.wrong == []


def test_a_cell_of_the_heat_map_tells_its_operations(browser: Browser, tmp_path: Path) -> None:
    rows = [an_operation(n, n * MS, 0, MS) for n in range(10_000)]
    opened = Opened(browser)
    page = opened.show(Path(build(write_load(tmp_path, open_load(1_000, 4), rows, 10.0))["report"]))
    page.locator("#chart-heat .mark-rect path").nth(20).hover()
    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    text = tooltip.inner_text()
    assert "latency" in text
    assert "operations" in text
    assert "undefined" not in text
    assert opened.wrong == []


def test_the_table_sorts_by_a_heading(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)

    def names() -> list[str]:
        return page.locator("#operations tbody tr td:first-child").all_inner_texts()

    assert names() == list(OPERATIONS)
    by_time = sorted(OPERATIONS, key=lambda name: -OPERATIONS[name])
    page.get_by_role("button", name="median").click()
    assert names() == by_time
    page.get_by_role("button", name="median").click()
    assert names() == by_time[::-1]
    operations = page.locator("#operations")
    operations.get_by_role("button", name="name", exact=True).click()
    assert names() == sorted(OPERATIONS)
    assert opened.wrong == []


def test_hovering_reads_all_panels(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    chart = page.locator("#chart-timeline svg")
    chart.scroll_into_view_if_needed()
    chart.hover(position={"x": 500, "y": 170})
    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    text = tooltip.inner_text()
    for expected in ("operations", "CPU, engine and driver", "memory", "disks, read", "1.00 cores"):
        assert expected in text
    assert "undefined" not in text
    assert opened.wrong == []


def test_a_brush_zooms_the_panels(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    chart = page.locator("#chart-timeline svg")
    chart.scroll_into_view_if_needed()
    before = chart.inner_html()
    box = chart.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 14, steps=5)
    page.mouse.up()
    page.wait_for_timeout(200)
    assert chart.inner_html() != before
    assert opened.wrong == []


@pytest.mark.parametrize("kind", ["png", "svg", "json"])
def test_a_chart_is_one_click_away(browser: Browser, report: Path, kind: str) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    with page.expect_download() as caught:
        page.locator(f'[data-take="{kind}"][data-of="operations"]').click()
    assert caught.value.suggested_filename.endswith(
        f"operations.{'vl.json' if kind == 'json' else kind}"
    )
    assert caught.value.path().stat().st_size > 1_000
    assert opened.wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_window_does_not_scroll_sideways(
    browser: Browser, report: Path, scheme: str
) -> None:
    opened = Opened(browser, NARROW)
    opened.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page = opened.show(report)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW
    assert opened.wrong == []


def test_charts_follow_the_width_of_the_window(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    page.set_viewport_size({"width": NARROW, "height": 900})
    page.wait_for_function(
        f"document.querySelector('#chart-operations svg').clientWidth < {NARROW}"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW
    assert opened.wrong == []


def test_what_an_engine_says_does_not_run(browser: Browser, tmp_path: Path) -> None:
    opened = Opened(browser)
    page = opened.show(Path(build(write_run(tmp_path, failing="q02", message=HOSTILE))["report"]))
    assert "document.title='owned'" in page.locator(".doubt").first.inner_text()
    assert "owned" not in page.title()
    assert opened.wrong == []


def test_a_killed_run_without_samples_still_shows(browser: Browser, tmp_path: Path) -> None:
    opened = Opened(browser)
    page = opened.show(Path(build(truncate_run(write_run(tmp_path, probes=False)))["report"]))
    assert page.locator(".verdict").inner_text().endswith("UNKNOWN")
    assert "no probe ran" in page.locator("main").inner_text()
    assert opened.wrong == []
