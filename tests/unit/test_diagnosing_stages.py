"""Steps of a diagnosis on made-up runs: which causes get a verdict, and what each run is given."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import polars as pl
import pytest

from assay.analysis.try_.calibration import Calibration, Record
from assay.model.finding import Advice, Finding
from assay.record.layout import STATUS_COMPLETE
from assay.record.reader import Run
from assay.record.seal import write_seal
from assay.running.asked.request import RunRequest
from assay.study.diagnosing import stages
from assay.study.diagnosing.candidates import Candidate, candidates_of
from assay.study.diagnosing.stages import Diagnosing
from assay.study.several import Begun, Terms
from tests.conftest import write_stream
from tests.records import write_run

if TYPE_CHECKING:
    from assay.analysis.diagnose.way import Step
    from assay.study.variants import Study

REQUEST = RunRequest(workload="tpch", engine="duckdb", scale=0.01)
HISTORY = Calibration(Record(0, 0, 0, None), {})
CHANGE = "threads=1"


def cause(operation: str, method: str = "spill", advice: Advice | None = None) -> Finding:
    return Finding("It waits", 0.4, None, (), method, operations=(operation,), advice=advice)


def candidate(*causes: Finding, **request: Any) -> Candidate:
    first, *also = causes
    changed = REQUEST.changed(**(request or {"settings": {"threads": "1"}}))
    return Candidate(
        first, CHANGE, "setting", changed, by_plan=False, stays=True, expected=0.4, also=tuple(also)
    )


@dataclass
class Runs:
    """Makes the runs of a study: with a change, operations take some factor of their time."""

    place: Path
    factors: dict[str, float]
    terms: Terms = field(default_factory=Terms)
    begun: list[Begun] = field(default_factory=list)
    requests: dict[str, list[RunRequest]] = field(default_factory=dict)

    @property
    def directory(self) -> Path:
        return self.place

    def begin(self, study: Study) -> None:
        """The study needs no directory."""

    def make(self, study: Study, terms: Terms) -> Any:
        part = next(part for part in study.parts if part.name in (terms.parts or ()))
        for variant in part.variants:
            run_id = f"run-{len(self.begun)}"
            factors = {} if variant.name == stages.BASELINE else self.factors
            stretched(write_run(self.place, run_id=run_id), factors, 0.001 * (len(self.begun) % 3))
            self.begun.append(Begun(part.name, variant.name, 1, STATUS_COMPLETE, run_id))
            self.requests.setdefault(variant.name, []).append(cast("RunRequest", variant.request))
        return SimpleNamespace(left_out=())


def stretched(directory: Path, factors: dict[str, float], noise: float) -> None:
    events = Run(directory).table("events")
    took = pl.col("finished_ns") - pl.col("started_ns")
    names = pl.col("operation").cast(pl.String)
    factor = names.replace_strict(factors, default=1.0, return_dtype=pl.Float64) * (1 + noise)
    rows = events.with_columns(
        (pl.col("started_ns") + (took * factor).round().cast(pl.Int64)).alias("finished_ns"),
        pl.col("phase", "operation", "outcome", "error").cast(pl.String),
    )
    write_stream(directory / "raw" / "events.arrows", rows.to_dicts())
    write_seal(directory)


def first_step(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    factors: dict[str, float],
    *able: Candidate,
    width: int = 3,
) -> tuple[Step, Runs]:
    """The first step of a diagnosis with these candidates, and its runs."""
    runs, given = Runs(place, factors), [list(able)]
    monkeypatch.setattr(stages, "summarise", lambda _: SimpleNamespace(findings=(), time=None))
    monkeypatch.setattr(stages, "slowed_candidate", lambda *_: None)
    monkeypatch.setattr(stages, "begun_in", lambda _: runs.begun)
    monkeypatch.setattr(
        stages, "candidates_of", lambda *_, **__: (given.pop() if given else [], [])
    )
    pilot = Run(write_run(place, run_id="pilot"))
    series = cast("Any", runs)
    way = Diagnosing(REQUEST, pilot, series, HISTORY, side_by_side=width).carry_out()
    return way.steps[0], runs


def test_each_cause_of_a_change_gets_a_verdict_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = candidate(cause("q01"), cause("q03"))
    step, runs = first_step(tmp_path, monkeypatch, {"q03": 0.5}, both)
    verdicts = {tried.cause.key: tried.judgement.verdict for tried in step.tried}
    assert verdicts == {"spill:q01": "refuted", "spill:q03": "confirmed"}
    assert step.kept is not None
    assert step.kept.cause.key == "spill:q03"
    assert {tried.change for tried in step.tried} == {CHANGE}
    # Both causes are judged by the same runs.
    rounds = max(len(tried.rounds) for tried in step.tried)
    assert len(runs.requests[CHANGE]) == rounds


def test_causes_of_one_change_are_one_candidate(tmp_path: Path) -> None:
    run = Run(write_run(tmp_path))
    advice = Advice("named-setting", "threads", {"value": "1"}, 0.2)
    causes = [cause(name, advice=advice) for name in ("q01", "q02")]
    able, unable = candidates_of(run, causes, REQUEST, HISTORY)
    assert unable == []
    assert [[each.key for each in one.causes] for one in able] == [["spill:q01", "spill:q02"]]
    assert able[0].expected == pytest.approx(0.4)


def test_each_run_reverts_what_a_killed_run_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run without a change would otherwise be measured with a leftover index."""
    indexed = candidate(
        cause("q01", "missing-index"), changes={"index": "create"}, undo={"index": "drop"}
    )
    _, runs = first_step(tmp_path, monkeypatch, {"q01": 0.5}, indexed)
    for request in (*runs.requests[stages.BASELINE], *runs.requests[CHANGE]):
        assert request.undo == {"index": "drop"}
    assert {len(request.changes) for request in runs.requests[stages.BASELINE]} == {0}


def test_causes_that_a_kept_change_precedes_are_left_to_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The budget is not over, so it is no reason."""
    able = [candidate(cause("q01"))]
    able += [replace(candidate(cause("q02", f"other-{n}")), change=f"threads={n}") for n in (2, 3)]
    noisy = {"q01": 0.5, "q02": 0.98}
    step, _ = first_step(tmp_path, monkeypatch, noisy, *able, width=1)
    assert step.kept is not None
    assert {untried.why for untried in step.left_out} == {stages.NEXT_STEP}


def test_a_change_that_makes_operations_fail_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "spoiled_by_change", lambda _: "operations fail with the change")
    step, _ = first_step(tmp_path, monkeypatch, {"q01": 0.5}, candidate(cause("q01")))
    assert [tried.judgement.verdict for tried in step.tried] == ["confirmed"]
    assert step.kept is None
