"""`assay try`: which finding is meant, what it becomes, and what is printed of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.try_.calibration import calibrate
from assay.cli.main import run_command
from assay.model.errors import UsageError
from assay.model.finding import Advice, Finding
from assay.record.reader import Run, took_s
from assay.record.seal import write_seal
from assay.report.sections.try_ import prediction, trial_document
from assay.report.terminal.try_ import calibration_lines, trial_lines
from assay.running.asked.request import GivenAgain, recorded_request
from assay.study.try_ import BASELINE, chosen, trial_study
from tests.records import write_run

JIT = Advice("setting", "parallel_workers", {"value": "1"}, 0.25)


def finding(
    method: str, *operations: str, advice: Advice | None = None, to_try: str | None = None
) -> Finding:
    return Finding(
        f"{method} is why", 0.5, None, ("r",), method, to_try, operations=operations, advice=advice
    )


FINDINGS = [
    finding("bound-by"),
    finding("spill", "q18", advice=JIT),
    finding("work", "q18", to_try="assay explain r"),
    finding("parallelism", advice=JIT),
    finding("twice", "q01", advice=JIT),
    finding("twice", "q01", advice=JIT),
]


class TestChosen:
    def test_by_its_key_or_its_number(self) -> None:
        assert chosen(FINDINGS, "spill:q18") is FINDINGS[1]
        assert chosen(FINDINGS, "parallelism") is chosen(FINDINGS, "4") is FINDINGS[3]
        assert chosen(FINDINGS, "6") is FINDINGS[5]

    def test_by_its_method_where_only_one_can_be_meant(self) -> None:
        other = finding("spill", "q06")
        assert chosen(FINDINGS, "spill") is FINDINGS[1]
        assert chosen([other, *FINDINGS], "spill") is FINDINGS[1]

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            ("spill:q81", "no finding 'spill:q81'; did you mean 'spill:q18'"),
            ("7", "no finding '7'; it has 1 bound-by, 2 spill:q18, 3 work:q18, 4 parallelism"),
            ("0", "no finding '0'"),
            ("twice:q01", "'twice:q01' matches 2 findings: name one of 5 twice:q01 or 6 twice:q01"),
            ("twice", "'twice' matches 2 findings: name one of 5 twice:q01 or 6 twice:q01"),
            (
                "bound-by",
                "no advice that Assay can carry out; it says nothing to do; of this run can be",
            ),
            ("3", "work:q18 has no advice that Assay can carry out; by hand: assay explain r;"),
            ("3", "2 spill:q18, 4 parallelism"),
        ],
    )
    def test_what_cannot_be_meant_is_told_with_what_can(self, asked: str, message: str) -> None:
        with pytest.raises(UsageError) as raised:
            chosen(FINDINGS, asked)
        assert message in str(raised.value)

    def test_a_run_without_findings_or_advice(self) -> None:
        with pytest.raises(UsageError, match="no findings"):
            chosen([], "spill")
        with pytest.raises(UsageError, match="nothing of this run can be"):
            chosen(FINDINGS[:1], "1")


class TestStudy:
    def test_it_is_the_run_as_it_was_and_with_the_advice_followed(self, tmp_path: Path) -> None:
        run = Run(write_run(tmp_path))
        study = trial_study(run, FINDINGS[1], 3, 9)
        base = recorded_request(run.facts["request"])
        (part,) = study.parts
        as_it_was, followed = part.variants
        assert (as_it_was.name, followed.name) == (BASELINE, "threads=1")
        assert as_it_was.request == base
        assert base.settings == {"threads": "2"}
        assert followed.request.settings == {"threads": "1"}
        assert (part.repetitions, study.seed) == (3, 9)

    def test_how_long_the_run_took_is_what_is_expected(self, tmp_path: Path) -> None:
        run = Run(write_run(tmp_path))
        assert took_s(run) == 5.0
        run.facts["ended_utc"] = None
        assert took_s(run) is None

    def test_a_wall_clock_that_was_set_back_tells_no_duration(self, tmp_path: Path) -> None:
        run = Run(write_run(tmp_path))
        run.facts["ended_utc"] = "2026-11-20T09:15:05.000+00:00"
        assert took_s(run) is None
        run.facts["took_s"] = 5.25
        assert took_s(run) == 5.25

    @pytest.mark.parametrize(
        ("change", "dsn", "message"),
        [
            (
                {"dsn": "postgresql://me:***@h/d"},
                None,
                "give the server's address again with --dsn",
            ),
            ({}, "postgresql://h/d", "used a server that Assay started: remove --dsn"),
            ({"settings": {"secret": "***"}}, None, "'secret' had one"),
            ({"prepare": {"a.sql": "password '***'"}}, None, "'a.sql' had one"),
            ({"bin_dir": "/opt/b"}, None, "if you trust it, add --bin-dir /opt/b"),
            ({"drivers": ["/a.jar", "g:a:1"]}, None, "add --driver /a.jar --driver g:a:1"),
            ({"dsn": "mysql://h/d", "allow_writes": True}, None, "add --dsn mysql://h/d"),
            ({"dsn": "mysql://h/d", "prepare": {"a": "x"}}, None, "add --dsn mysql://h/d"),
            ({"moons": 3}, None, "'moons', which this version of Assay does not know"),
        ],
    )
    def test_a_record_that_does_not_tell_all_is_refused(
        self, tmp_path: Path, change: dict[str, Any], dsn: str | None, message: str
    ) -> None:
        facts = {**Run(write_run(tmp_path)).facts["request"], **change}
        with pytest.raises(UsageError) as raised:
            recorded_request(facts, GivenAgain(dsn))
        assert message in str(raised.value)

    def test_programs_and_changed_databases_are_those_that_are_given_again(
        self, tmp_path: Path
    ) -> None:
        facts = {
            **Run(write_run(tmp_path)).facts["request"],
            "dsn": "jdbc:h2:a",
            "allow_writes": True,
            "bin_dir": "/theirs",
            "drivers": ["/theirs.jar"],
        }
        repeated = recorded_request(facts, GivenAgain("jdbc:h2:a", "/ours", ["/ours.jar"]))
        assert (repeated.bin_dir, repeated.drivers) == ("/ours", ["/ours.jar"])
        assert recorded_request(facts | {"bin_dir": None}, GivenAgain("jdbc:h2:a", None, ["g:a:1"]))

    def test_an_address_is_taken_in_place_of_the_recorded(self, tmp_path: Path) -> None:
        facts = {**Run(write_run(tmp_path)).facts["request"], "dsn": "postgresql://me:***@h/d"}
        given = "postgresql://me:pw@h/d"
        assert recorded_request(facts, GivenAgain(given)).dsn == given
        facts["dsn"] = "postgresql://me@h/d"
        assert recorded_request(facts).dsn == "postgresql://me@h/d"


def scaled(directory: Path, factor: float) -> Run:
    """The run with all operations of the measured part that much longer."""
    import polars as pl

    from tests.conftest import write_stream

    run = Run(directory)
    events = run.table("events").with_columns(
        (
            pl.col("started_ns")
            + ((pl.col("finished_ns") - pl.col("started_ns")) * factor).round().cast(pl.Int64)
        ).alias("finished_ns"),
        pl.col("phase", "operation", "outcome", "error").cast(pl.String),
    )
    write_stream(directory / "raw" / "events.arrows", events.to_dicts())
    write_seal(directory)
    return Run(directory)


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    rounds = []
    for number, factor in enumerate((0.74, 0.76, 0.75)):
        before = Run(write_run(tmp_path, run_id=f"{number}-before"))
        after = scaled(write_run(tmp_path, run_id=f"{number}-after"), factor)
        rounds.append((before, after))
    about = finding("spill", "q01", advice=JIT)
    run_document = trial_document(rounds[0][0], about, "threads=1", rounds)
    run_document["study"] = "runs/studies/x"
    run_document["calibration"] = calibrate(
        [prediction(run_document, "2026-11-20T10:15:00+00:00")]
    ).facts()
    return run_document


class TestDocument:
    def test_it_is_json_and_holds_what_was_predicted_beside_what_came(
        self, document: dict[str, Any]
    ) -> None:
        assert json.loads(json.dumps(document)) == document | {
            "gain": document["gain"] | {"interval": list(document["gain"]["interval"])},
            "operations": json.loads(json.dumps(document["operations"])),
            "judged": json.loads(json.dumps(document["judged"])),
        }
        assert document["gain"]["share"] == pytest.approx(0.25, abs=0.005)
        assert document["gain"]["before_s"] == pytest.approx(0.7)
        assert (document["predicted"], document["verdict"], document["hit"]) == (
            0.25,
            "smaller",
            False,
        )
        (operation,) = document["operations"]
        assert operation["predicted"] == pytest.approx(0.25 * 0.7 / 0.4)
        assert [pair["before"] for pair in document["rounds"]] == [
            "0-before",
            "1-before",
            "2-before",
        ]

    def test_its_prediction_has_all_that_is_kept(self, document: dict[str, Any]) -> None:
        kept = prediction(document, "2026-11-20T10:15:00+00:00")
        assert kept["measured"] == document["operations"][0]["gain"]["share"]
        assert kept["interval"] == document["operations"][0]["gain"]["interval"]
        assert (kept["judged"], kept["predicted"]) == (["q01"], pytest.approx(0.25 * 0.7 / 0.4))
        identity = (
            kept["method"],
            kept["finding"],
            kept["engine"],
            kept["workload"],
            kept["scale"],
        )
        assert identity == ("spill", "spill:q01", "duckdb", "tpch", 1.0)

    def test_lines_fit_and_say_the_figures(self, document: dict[str, Any]) -> None:
        text = "\n".join(trial_lines(document, 80))
        assert all(len(line) <= 80 for line in text.splitlines()), text
        for shown_line in (
            "threads=1   TPC-H SF 1 on DuckDB 2.0.0",
            "to mend: spill is why",
            "a pass     700 ms     525 ms      25 %",
            "44 %",
            "SMALLER  of q01: the change helps, and the gain is smaller than predicted",
            "spill came true 0 of 1 time, measured / predicted 0.57 (median)",
            "Study    runs/studies/x",
        ):
            assert shown_line in text, text

    def test_one_round_says_what_it_lacks(self, document: dict[str, Any]) -> None:
        document["judged"]["gain"]["interval"], document["verdict"] = None, "undecided"
        assert "one round has no interval: raise --repeat" in "\n".join(trial_lines(document, 80))


class TestHistory:
    def test_it_lists_methods_and_says_what_true_means(self) -> None:
        rows = [
            {"method": "spill", "hit": True, "measured": 0.2, "predicted": 0.25},
            {"method": "jit", "hit": None, "measured": None, "predicted": None},
        ]
        lines = list(calibration_lines(calibrate(rows).facts(), "runs"))
        assert lines[0] == "  jit         undecided 1 time"
        assert lines[1].startswith("  spill       came true 1 of 1 time, measured / predicted 0.80")
        assert lines[2].startswith("  all advice  came true 1 of 1 time")
        assert "within a factor of 1.5" in lines[-1]


class TestCommand:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "name both RUN and FINDING"),
            (["latest"], "name both RUN and FINDING"),
            (["latest", "1", "--history"], "remove RUN and FINDING"),
            (["latest", "no-such"], "has no finding 'no-such'"),
            (["latest", "bound-by"], "has no advice that Assay can carry out;"),
            (["latest", "1", "--repeat", "0"], "--repeat"),
        ],
    )
    def test_what_cannot_be_is_refused_before_anything_runs(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
    ) -> None:
        write_run(tmp_path)
        assert run_command(["try", *arguments, "--runs", str(tmp_path)]) == 1
        assert message in capsys.readouterr().err
        assert [path.name for path in tmp_path.iterdir()] == [Run(next(tmp_path.iterdir())).id]

    def test_nothing_was_tried_yet(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run_command(["try", "--history", "--runs", str(tmp_path)]) == 0
        assert "Nothing was tried in" in capsys.readouterr().out
        assert run_command(["try", "--history", "--json", "--runs", str(tmp_path)]) == 0
        assert json.loads(capsys.readouterr().out)["tried"] == 0
