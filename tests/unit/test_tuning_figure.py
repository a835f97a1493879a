"""The figure of a tune: it recommends with an interval and how to apply it, or says why not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.figures.contract import Asked, Figure
from assay.analysis.figures.discovery import make
from assay.record.studies import read_study
from assay.report.study.charts import charts_of
from assay.report.study.document import study_document
from assay.report.study.terminal import article_lines
from tests.records import write_run
from tests.studies import WRONG, MadeStudy, figure, shortened

SETTING = {"set.work_mem": "64MB", "set.jit": "off"}
OTHER = {"set.work_mem": "1MB", "set.jit": "on"}
WORDS = "work_mem=64MB, jit=off"
# How much longer runs of a round take than those of another: nothing of it is left in ratios.
DRIFT = (1.0, 1.3, 0.8, 1.1)


def tune(place: Path, factor: float, jitter: float = 0.01) -> MadeStudy:
    """Two settings beside the default; the first takes `factor` as long as it does."""
    made = MadeStudy(place)
    _add(made, "first", {}, 1.0)
    for levels, times in (({}, 1.0), (SETTING, factor), (OTHER, 1.4)):
        _add(made, "search-1", levels, times)
    for number, drift in enumerate(DRIFT, 1):
        _add(made, "hold-out-1", {}, drift, number)
        noise = 1 + jitter * (-1) ** number
        _add(made, "hold-out-1", SETTING, drift * factor * noise, number)
    return made


def _add(made: MadeStudy, part: str, levels: dict[str, str], times: float, number: int = 1) -> None:
    run = write_run(made.runs / "made")
    # No operation takes longer than it did, or it would overlap the next one.
    shortened(run / "raw" / "events.arrows", times / 2)
    made.add(part, levels, run, number)


def shown(made: MadeStudy, **options: Any) -> Figure:
    return make(Asked("tuning", "tuning", "Settings", tuple(made.studied), options))


def rows(made_figure: Figure, table: str) -> list[dict[str, Any]]:
    candidate = next(
        result_table for result_table in made_figure.tables if result_table.name == table
    )
    return [
        dict(zip((column.name for column in candidate.columns), row, strict=True))
        for row in candidate.rows
    ]


def test_a_better_setting_is_recommended_with_its_gain_and_how_to_apply_it(tmp_path: Path) -> None:
    drawn = shown(tune(tmp_path, 0.5))
    first, apply, cost, *_ = drawn.says
    assert first.startswith(f"Recommended: {WORDS}. Beside the default seconds of all operations")
    assert "50 % lower [" in first
    assert "2 x as good, over 4 pairs" in first
    assert apply == "To apply it: --set work_mem=64MB --set jit=off"
    assert cost.startswith("It cost 12 runs, ")
    assert "CPU seconds" in cost
    (decided,) = rows(drawn, "conclusion")
    assert (decided["setting"], decided["recommended"], decided["pairs"]) == (WORDS, "yes", 4)
    assert 0 < decided["at least"] < 0.5 < decided["at most"]
    assert decided["gain"] == pytest.approx(0.5, abs=0.01)
    assert decided["may be wrong"] == 0.025


def test_inside_the_noise_nothing_is(tmp_path: Path) -> None:
    made_figure = shown(tune(tmp_path, 0.98, jitter=0.05))
    assert made_figure.says[0].startswith(
        "Nothing is recommended: no setting is better than the default"
    )
    assert f"With {WORDS}, which looked best," in made_figure.says[0]
    assert " % higher), over 4 pairs of runs: the default may be as good, or" in made_figure.says[0]
    assert not [sentence for sentence in made_figure.says if "--set" in sentence]
    (decided,) = rows(made_figure, "conclusion")
    assert decided["recommended"] == "no"
    assert decided["at least"] < 0 < decided["at most"]


def test_drift_of_the_host_is_in_no_ratio(tmp_path: Path) -> None:
    made_figure = shown(tune(tmp_path, 0.5, jitter=0.0))
    held, *_ = rows(made_figure, "leaders")
    assert (held["of"], held["quantity"]) == ("64MB / off", "hold-out")
    assert held["ratio"] == pytest.approx(0.5, rel=1e-6)
    progress = [row for row in rows(made_figure, "progress") if row["curve"] == "held out"]
    assert [row["y"] for row in progress] == pytest.approx([0.5] * len(DRIFT), rel=1e-6)


def test_another_metric_can_be_made_better(tmp_path: Path) -> None:
    made_figure = shown(tune(tmp_path, 0.5), metric="q02")
    (decided,) = rows(made_figure, "conclusion")
    assert decided["metric"] == "q02"
    assert "seconds of q02 is 50 % lower" in made_figure.says[0]
    given = [(row["knob"], row["values"]) for row in rows(made_figure, "values")]
    assert sorted(given) == [
        ("jit", "off"),
        ("jit", "on"),
        ("work_mem", "1MB"),
        ("work_mem", "64MB"),
    ]


def test_a_setting_with_wrong_answers_never_wins(tmp_path: Path) -> None:
    made = MadeStudy(tmp_path)
    _add(made, "first", {}, 1.0)
    _add(made, "search-1", {}, 1.0)
    run = write_run(tmp_path / "made")
    shortened(run / "raw" / "events.arrows", 0.1)
    made.add("search-1", SETTING, run, check=WRONG)
    made_figure = shown(made, failed={"work_mem=1MB, jit=on": "out of memory"})
    assert made_figure.says[0] == "Nothing is recommended: every setting that was tried failed."
    assert any(WRONG.reason in why for why in made_figure.missing)
    assert any(sentence.startswith("2 settings failed") for sentence in made_figure.says)


def test_a_leader_that_no_time_was_left_for_is_named(tmp_path: Path) -> None:
    made = tune(tmp_path, 0.5)
    made.studied = [run for run in made.studied if run.part != "hold-out-1"]
    made_figure = shown(made)
    assert f"{WORDS} looked best, and no time was left" in made_figure.says[0]


def test_its_article_has_charts_and_a_table_first(tmp_path: Path) -> None:
    directory = tune(tmp_path, 0.5).write([figure("tuning", "hold-out-1", "tuning")])
    document = study_document(read_study(directory))
    (figures,) = document["figures"]
    lines = "\n".join(article_lines(document, 100))
    assert "Recommended: " in lines
    assert "64MB / off  hold-out" in lines
    assert {name.partition("-")[2] for name in charts_of(figures)} == {"leaders", "progress"}
    for chart in charts_of(figures).values():
        assert chart.to_dict()


def test_the_interval_is_the_one_of_the_ratios(tmp_path: Path) -> None:
    from assay.analysis.stats.anytime import anytime_interval

    made_figure = shown(tune(tmp_path, 0.5, jitter=0.02))
    logs = [math.log(0.5 * (1 + 0.02 * (-1) ** number)) for number in range(1, 5)]
    ends = anytime_interval(logs, 0.025)
    assert ends is not None
    held, *_ = rows(made_figure, "leaders")
    assert (held["at least"], held["at most"]) == pytest.approx(
        [math.exp(end) for end in ends], rel=1e-6
    )
