"""The profile in a real browser: a call tree that is zoomed, searched, filtered, taken along."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from assay.cli.main import run_command
from assay.report.build import build
from tests.browser.test_report import NARROW, WIDE, Opened, browser
from tests.records import write_run
from tests.sampled import as_sampled

__all__ = ["browser"]

OTHER = "20261121T101500Z-tpch-duckdb-def456"
PHONE = 390
BOXES = "#flame g[data-node]"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(build(as_sampled(write_run(tmp_path_factory.mktemp("runs"))))["report"])


@pytest.fixture(scope="module")
def difference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("pair")
    as_sampled(write_run(runs))
    as_sampled(write_run(runs, run_id=OTHER), slower="Probe")
    page = runs / "difference.html"
    command = ["explain", OTHER, "--against", "abc123", "--html", str(page), "--runs", str(runs)]
    assert run_command(command) == 0
    return page


def box(page: Page, label: str) -> str:
    """The selector of the first box whose description begins with a label."""
    return f'{BOXES}[aria-label^="{label}"]'


def width_of(page: Page, selector: str) -> float:
    bounds = page.locator(f"{selector} rect").first.bounding_box()
    assert bounds is not None
    return bounds["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, PHONE, NARROW])
def test_the_profile_fits_its_page(browser: Browser, report: Path, width: int, scheme: str) -> None:
    opened = Opened(browser, width)
    opened.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page = opened.show(report)
    assert page.locator(BOXES).count() > 10
    assert page.locator("#chart-work svg .mark-rect path").count() >= 10
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    tree = page.locator("#flame svg").bounding_box()
    assert tree is not None
    assert width / 2 < tree["width"] <= width
    assert opened.wrong == []


def test_a_click_zooms_and_the_button_goes_back(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    probe = box(page, "HashTable<long>::Probe")
    before = width_of(page, probe)
    page.locator(probe).click()
    assert width_of(page, probe) > 2 * before
    assert "hash probe" in page.locator("#flame .flame-about").inner_text()
    page.get_by_role("button", name="whole tree").click()
    assert width_of(page, probe) == pytest.approx(before)
    assert opened.wrong == []


def test_a_box_is_as_wide_as_its_share(browser: Browser, report: Path) -> None:
    page = Opened(browser).show(report)
    label = page.locator(box(page, "Scan::Next")).first.get_attribute("aria-label") or ""
    share = float(label.split(" samples, ")[1].split(" %")[0]) / 100
    whole = width_of(page, box(page, "all samples"))
    assert width_of(page, box(page, "Scan::Next")) == pytest.approx(share * whole, rel=0.02)


def test_a_search_tells_the_share_that_matches(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    page.locator("#flame input[type=search]").fill("decompress")
    shares = [
        float(label.split(" samples, ")[1].split(" %")[0])
        for label in page.locator(f"{BOXES}.flame-match").evaluate_all(
            "all => all.map(one => one.getAttribute('aria-label'))"
        )
    ]
    text = page.locator("#flame .flame-found").inner_text()
    assert float(text.split(" %")[0]) == pytest.approx(sum(shares), abs=0.1)
    page.locator("#flame input[type=search]").fill("no such function")
    assert page.locator("#flame .flame-found").inner_text() == "nothing matches"
    assert opened.wrong == []


def test_one_operation_alone_has_its_functions_only(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    page.locator("#flame select").select_option("q02")
    assert page.locator(box(page, "Filter")).count() == 1
    assert page.locator(box(page, "Aggregate::Update")).count() == 0
    page.locator("#flame select").select_option("")
    assert page.locator(box(page, "Aggregate::Update")).count() == 1
    assert opened.wrong == []


def test_a_flame_grows_upwards(browser: Browser, report: Path) -> None:
    page = Opened(browser).show(report)

    def is_below(label: str, other: str) -> bool:
        tops = [page.locator(box(page, text)).first.bounding_box() for text in (label, other)]
        assert tops[0] is not None
        assert tops[1] is not None
        return tops[0]["y"] > tops[1]["y"]

    assert is_below("Execute", "_start")
    page.locator("#flame input[value=flame]").check()
    assert is_below("_start", "Execute")


def test_the_keyboard_reaches_every_box(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    page.locator('#flame g[tabindex="0"]').focus()
    about = page.locator("#flame .flame-about")
    for expected in ("_start", "Execute"):
        page.keyboard.press("ArrowDown")
        assert about.inner_text().startswith(expected)
    page.keyboard.press("ArrowDown")
    first = about.inner_text()
    page.keyboard.press("ArrowRight")
    assert about.inner_text() != first
    page.keyboard.press("Enter")
    assert page.get_by_role("button", name="whole tree").is_visible()
    page.keyboard.press("Escape")
    assert not page.get_by_role("button", name="whole tree").is_visible()
    assert opened.wrong == []


@pytest.mark.parametrize(
    ("kind", "ending", "holds"),
    [
        ("svg", ".svg", b"HashTable"),
        ("png", ".png", b"PNG"),
        ("folded", ".folded.txt", b"_start;Execute;Scan::Next"),
    ],
)
def test_the_tree_is_one_click_away(
    browser: Browser, report: Path, kind: str, ending: str, holds: bytes
) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    with page.expect_download() as caught:
        page.locator(f'[data-flame-take="{kind}"]').click()
    assert caught.value.suggested_filename.endswith(ending)
    assert holds in caught.value.path().read_bytes()
    assert opened.wrong == []


def test_functions_are_searched_sorted_and_opened(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    rows = page.locator("#profile-symbols tbody tr:visible")
    every = rows.count()
    page.locator("[data-search-of]").fill("q02")
    assert 0 < rows.count() < every
    page.locator("[data-search-of]").fill("hashtable")
    assert rows.count() == 1
    assert page.locator("#profile-symbols-found").inner_text().startswith("1 row")
    member = page.get_by_text("HashTable<date>::Probe").last
    assert not member.is_visible()
    page.locator("#profile-symbols summary:visible").click()
    assert member.is_visible()
    page.locator("[data-search-of]").fill("")
    page.locator("#profile-symbols").get_by_role("button", name="symbol").click()
    assert rows.first.locator("td").nth(3).inner_text().startswith("Aggregate")
    assert opened.wrong == []


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_a_difference_is_coloured_where_it_is_certain(
    browser: Browser, difference: Path, width: int
) -> None:
    opened = Opened(browser, width)
    page = opened.page
    page.goto(difference.absolute().as_uri())
    fills = page.locator("#difference g[data-node]").evaluate_all(
        "all => all.map(one => [one.getAttribute('aria-label'), "
        "one.querySelector('rect').getAttribute('fill')])"
    )
    grey = next(fill for label, fill in fills if label.startswith("all samples"))
    coloured = {label.split(" (")[0] for label, fill in fills if fill != grey}
    assert "HashTable<long>::Probe" in coloured
    assert not any(label.startswith(("Scan", "Aggregate", "Decompress")) for label in coloured)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.wrong == []
