"""The explanation in a real browser: links lead to bars and plans, plans open, what-ifs compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from assay.analysis.summarise import summarise
from assay.analysis.whatif import measured_of, predict
from assay.analysis.whatif.changes import ScaleOperation
from assay.model.units import seconds_text
from assay.record.reader import Run
from assay.report.build import build
from assay.report.page.run import page as page_of
from tests.browser.test_report import WIDE, Opened, browser
from tests.explained import NATIVE, explained, with_causes
from tests.records import write_run
from tests.sampled import as_sampled
from tests.specified import write_test

__all__ = ["browser"]

PHONE = 390
BARS = "#chart-operations .mark-rect path"
STRIPES = "#chart-operations .mark-rule line"


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return as_sampled(write_run(tmp_path_factory.mktemp("runs")))


@pytest.fixture(scope="module")
def report(run_dir: Path) -> Path:
    run, document = explained(run_dir)
    file = run_dir.parent / "report.html"
    file.write_text(page_of(run, with_causes(document)), encoding="utf-8")
    return file


def shown_at(page: Page, selector: str) -> bool:
    """Whether an element is within what the window shows."""
    box = page.locator(selector).bounding_box()
    height = page.evaluate("window.innerHeight")
    return box is not None and box["y"] < height and box["y"] + box["height"] > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_nothing_scrolls_sideways(browser: Browser, report: Path, width: int, scheme: str) -> None:
    opened = Opened(browser, width)
    opened.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page = opened.show(report)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.wait_for_function("!document.querySelector('[data-packed]')")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for name in ("where", "why", "plans", "what-if"):
        assert page.locator(f"#{name}").is_visible()
    assert opened.wrong == []


def test_what_is_not_accounted_for_is_striped(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    assert page.locator(STRIPES).count() >= 3
    assert "accounted for" in page.locator("#chart-operations").inner_text()
    assert opened.wrong == []


def test_bars_are_of_time_or_of_shares(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)

    def lengths() -> dict[str, float]:
        boxes = page.locator(BARS).evaluate_all(
            "all => all.map((one) => [one.__data__ && one.__data__.datum.operation,"
            " one.getBoundingClientRect().right])"
        )
        return {
            name: max(right for box, right in boxes if box == name) for name, _ in boxes if name
        }

    of_time = lengths()
    assert of_time["q01"] > 1.5 * of_time["q03"]
    page.locator("#chart-operations").get_by_label("share", exact=True).check()
    page.wait_for_timeout(100)
    of_share = lengths()
    assert of_share["q01"] == pytest.approx(of_share["q03"], abs=1)
    assert opened.wrong == []


def test_a_cpu_is_told_by_work_or_by_mode(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    legend = page.locator("#chart-operations .role-legend")
    assert "hash probe" in (legend.text_content() or "")
    assert "CPU, user" not in (legend.text_content() or "")
    page.locator("#chart-operations").get_by_label("user and kernel").check()
    page.wait_for_timeout(100)
    assert "CPU, user" in (legend.text_content() or "")
    assert "hash probe" not in (legend.text_content() or "")
    # What was chosen stays when the chart is drawn anew, and so does the window's width.
    page.set_viewport_size({"width": PHONE, "height": 900})
    page.wait_for_function("document.querySelector('#chart-operations svg').clientWidth < 390")
    assert "CPU, user" in (legend.text_content() or "")
    assert opened.wrong == []


def test_a_bar_tells_its_figures(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    page.locator(BARS).nth(4).hover()
    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    text = tooltip.inner_text()
    for expected in ("this part", "its share", "median time", "accounted for"):
        assert expected in text
    assert "undefined" not in text
    assert opened.wrong == []


def test_evidence_points_at_its_bar(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    framed = page.locator('#chart-operations path[stroke="#d55e00"]')
    assert framed.count() == 0
    page.locator("#why").get_by_role("link", name="time of q01").click()
    framed.first.wait_for(state="attached")
    assert shown_at(page, "#chart-operations")
    assert opened.wrong == []


def test_evidence_opens_its_plan(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    plan = page.locator('[id="plan:q01"]')
    assert plan.get_attribute("open") is None
    link = page.locator("#why").get_by_role("link", name="plan of q01")
    link.click()
    expect(plan).to_have_attribute("open", "")
    assert shown_at(page, '[id="plan:q01"]')
    # A second click leads there as well, whatever was folded or scrolled meanwhile.
    plan.locator("> summary").click()
    expect(plan).not_to_have_attribute("open", "")
    link.click()
    expect(plan).to_have_attribute("open", "")
    assert opened.wrong == []


def test_evidence_opens_what_is_folded_around_it(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    setting = page.locator('[id="setting:threads"]')
    assert not setting.is_visible()
    page.locator("#why").get_by_role("link", name="setting threads").click()
    expect(setting).to_be_visible()
    assert opened.wrong == []


def test_a_plan_is_opened_and_folded_by_keyboard(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    page.locator('[id="plan:q01"] > summary').focus()
    page.keyboard.press("Enter")
    scan = page.locator('[id="plan:q01"]').get_by_text("lineitem")
    assert scan.is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert not scan.is_visible()
    page.keyboard.press("Space")
    assert scan.is_visible()
    worst = page.locator('[id="plan:q01"] .worst')
    assert worst.inner_text() == "worst: 1,160x too few"
    assert opened.wrong == []


def test_the_native_plan_is_one_click_away(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    page.locator('[id="plan:q01"] > summary').click()
    page.locator('[id="plan:q01"] .native > summary').click()
    page.wait_for_function("!document.querySelector('[id=\"plan:q01\"] [data-packed]')")
    native = page.locator('[id="plan:q01"] .native pre')
    assert native.text_content() == NATIVE
    assert opened.wrong == []


def test_a_command_can_be_copied(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    button = page.locator("#why [data-copy]").first
    button.click()
    page.wait_for_function("document.querySelector('#why [data-copy]').textContent !== 'copy'")
    assert page.evaluate("getSelection().toString()").startswith("assay run tpch")
    assert opened.wrong == []


@pytest.mark.parametrize("factor", ["0.5", "1.7"])
def test_the_page_predicts_what_the_model_predicts(
    browser: Browser, report: Path, run_dir: Path, factor: str
) -> None:
    run = Run(run_dir)
    predicted = predict(measured_of(run, summarise(run)), [ScaleOperation("q03", float(factor))])
    opened = Opened(browser)
    page = opened.show(report)
    page.locator(".calculator select").select_option("q03")
    page.locator(".calculator input[type=number]").fill(factor)
    text = page.locator(".calculator output").inner_text()
    for name in ("total_seconds", "geometric_mean_seconds"):
        metric = predicted.metric(name)
        assert f"\u2192 {seconds_text(metric.after)}" in text
    composite = predicted.metric("composite_per_h")
    assert composite.change is not None
    assert f"{100 * composite.change:+.1f} %".replace("-", "\u2212") in text
    assert f"(1 + 0.286 \u00d7 ({factor} \u2212 1))" in text
    assert opened.wrong == []


def test_a_factor_that_is_none_is_said_to_be(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    page.locator(".calculator input[type=number]").fill("")
    assert "a number of 0 or more" in page.locator(".calculator output").inner_text()
    page.locator(".calculator input[type=number]").fill("0")
    assert "no bound" in page.locator(".calculator output").inner_text()
    assert opened.wrong == []


def test_weights_are_sorted_by_a_heading(browser: Browser, report: Path) -> None:
    opened = Opened(browser)
    page = opened.show(report)
    first = page.locator("#sensitivity tbody tr td:first-child").first
    assert first.inner_text() == "q01"
    page.locator("#sensitivity").get_by_role("button", name="in total").click()
    page.locator("#sensitivity").get_by_role("button", name="in total").click()
    assert first.inner_text() == "q02"
    assert opened.wrong == []


def test_a_test_is_computed_by_its_own_metrics_and_its_weights_are_sorted(
    browser: Browser, tmp_path: Path
) -> None:
    directory = write_test(tmp_path)
    document = build(directory)
    run = Run(directory)
    predicted = predict(measured_of(run, summarise(run)), [ScaleOperation("q21", 0.5)])
    opened = Opened(browser)
    page = opened.show(Path(document["report"]))
    page.locator(".calculator select").select_option("q21")
    page.locator(".calculator input[type=number]").fill("0.5")
    text = page.locator(".calculator output").inner_text()
    for name in ("power", "throughput", "composite"):
        change = predicted.metric(f"test_{name}_per_h").change
        assert change is not None
        assert f"({100 * change:+.1f} %)" in text
    first = page.locator("#test-weights tbody tr td:first-child").first
    assert first.inner_text() == "q14"
    page.locator("#test-weights").get_by_role("button", name="in composite").click()
    page.locator("#test-weights").get_by_role("button", name="in composite").click()
    assert first.inner_text() in ("rf1", "rf2", "q22")
    assert opened.wrong == []
