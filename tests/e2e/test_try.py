"""Advice is carried out beside the run as it was, and what came of it is told and kept."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.record.predictions import read_predictions
from assay.record.reader import Run
from assay.record.studies import list_studies, read_study_file
from assay.study.variants import interleaved
from tests.e2e.conftest import PATIENCE_S, POSTGRESQL, SMALL, Lab, laboratory_in_memory, wait_until
from tests.e2e.server import DATABASE, HOST, PASSWORD

ROOT = Path(__file__).parents[2]
# The operations that advice of these tests is about.
ABOUT = ["-o", "q01", "-o", "q18"]
DUCKDB = ["run", "tpch", *ABOUT, *SMALL, "--set", "threads=2", "--no-plans"]
SERVER = ["run", "tpch", *ABOUT, "--engine", POSTGRESQL, *SMALL, "--no-plans"]


def advice(kind: str, subject: str, gain: float | None = 0.5, **values: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "subject": subject,
        "values": values,
        "gain_share": gain,
        "operations": ["q01", "q18"],
    }


def command(lab: Lab, asked: str, rounds: int, *address: str) -> list[str]:
    module = [sys.executable, "-m", "tests.e2e.try_advice"]
    return [*module, str(lab.runs), asked, str(rounds), *address]


def tried(lab: Lab, advised: dict[str, Any], rounds: int = 2, *address: str) -> dict[str, Any]:
    asked = command(lab, json.dumps(advised), rounds, *address)
    done = subprocess.run(
        asked, env=lab.env(), cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def facts_of(lab: Lab, run_id: str) -> dict[str, Any]:
    return Run(lab.runs / run_id).facts


class TestDuckDB:
    def test_a_setting_is_tried_in_turns_and_the_prediction_is_kept(self, lab: Lab) -> None:
        lab.document(*DUCKDB)
        trial = tried(lab, advice("setting", "parallel_workers", value="1"), 2)
        assert trial["change"] == "threads=1"
        assert trial["answers"]["verdict"] == "valid"
        assert [operation["operation"] for operation in trial["operations"]] == ["q01", "q18"]
        low, high = trial["gain"]["interval"]
        assert low < trial["gain"]["share"] < high
        for pair in trial["rounds"]:
            before, after = (Run(lab.runs / pair[side]) for side in ("before", "after"))
            assert before.environment["engine"]["settings"]["threads"] == "2"
            assert after.environment["engine"]["settings"]["threads"] == "1"
            assert before.sealed
            assert after.sealed
        (kept,) = read_predictions(lab.runs)
        assert trial["predicted"] == 0.5
        assert kept["judged"] == ["q01", "q18"]
        assert kept["predicted"] == trial["judged"]["predicted"]
        assert kept["measured"] == trial["judged"]["gain"]["share"]
        assert kept["rounds"] == trial["rounds"]
        assert trial["calibration"]["tried"] == 1
        assert "made-up" in lab.assay("try", "--history").stdout
        lab.assert_nothing_left()

    def test_the_study_names_its_runs_in_the_order_in_which_they_were(self, lab: Lab) -> None:
        lab.document(*DUCKDB)
        trial = tried(lab, advice("index", "orders", columns="o_custkey"))
        document = read_study_file(Path(trial["study"]) / "study.toml")
        ran = [(run["round"], run["variant"]) for run in document["runs"]]
        (part,) = document["parts"]
        names = [variant["name"] for variant in part["variants"]]
        order = interleaved(names, part["repetitions"], document["seed"])
        assert ran == [(turn.round, turn.variant) for turn in order]
        ids = [run["id"] for run in document["runs"]]
        assert ids == sorted(ids)
        assert document["status"] == "complete"
        changed = facts_of(lab, trial["rounds"][0]["after"])
        assert list(changed["request"]["prepare"]) == ["index of orders (o_custkey)"]
        assert changed["request"] | {"prepare": {}} == facts_of(lab, trial["run"])["request"]
        assert facts_of(lab, trial["rounds"][0]["before"])["request"]["prepare"] == {}

    def test_a_finding_that_is_not_there_is_told_with_the_nearest(
        self, tpch_run: tuple[Lab, dict[str, Any]]
    ) -> None:
        lab, document = tpch_run
        there = document["findings"][0]["key"]
        result = lab.assay("try", "latest", f"{there}x")
        assert result.returncode == 1
        assert f"did you mean '{there}'" in result.stderr
        assert not (lab.runs / "studies").exists()

    def test_ctrl_c_keeps_what_was_and_the_study_goes_on_from_there(self, lab: Lab) -> None:
        lab.document(*DUCKDB)
        asked = command(lab, json.dumps(advice("setting", "parallel_workers", value="1")), 2)
        started = subprocess.Popen(
            asked,
            env=lab.env(),
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        lab.begun.append(started)

        def begun() -> list[dict[str, Any]]:
            files = list((lab.runs / "studies").glob("*/study.toml"))
            return read_study_file(files[0]).get("runs", []) if files else []

        def second_is_driven() -> bool:
            assert started.poll() is None
            ids = [run["id"] for run in begun()]
            return len(ids) == 2 and Run(lab.runs / ids[1]).has("events")

        wait_until(second_is_driven, "no second run")
        started.send_signal(signal.SIGINT)
        _, errors = started.communicate(timeout=PATIENCE_S)
        assert started.returncode == 2
        assert "the runs so far are kept" in errors
        assert [run["status"] for run in begun()] == ["complete", "interrupted"]
        lab.assert_nothing_left()
        assert read_predictions(lab.runs) == []
        interrupted = begun()[1]["id"]
        assert facts_of(lab, interrupted)["status"] == "interrupted"
        assert lab.assay("show", interrupted).returncode in {0, 3}
        self._goes_on(lab, asked, begun()[0]["id"], interrupted)

    def _goes_on(self, lab: Lab, asked: list[str], first: str, interrupted: str) -> None:
        """The same command is the same study; what ended well is not repeated."""
        again = subprocess.run(
            asked, env=lab.env(), cwd=ROOT, timeout=300, check=False, capture_output=True, text=True
        )
        assert again.returncode == 0, again.stderr
        (study,) = list_studies(lab.runs)
        assert f"going on with {study.name}: 1 of 4 runs are there" in again.stderr
        document = read_study_file(study / "study.toml")
        assert document["status"] == "complete"
        done = [run for run in document["runs"] if run["status"] == "complete"]
        assert done[0]["id"] == first
        assert interrupted not in [step["id"] for step in done]
        assert sorted((step["round"], step["variant"]) for step in done) == [
            (number, variant["name"])
            for number in (1, 2)
            for variant in document["parts"][0]["variants"]
        ]
        assert len(read_predictions(lab.runs)) == 1
        lab.assert_nothing_left()


@pytest.fixture(scope="module")
def measured(server_place: Path) -> Iterator[Lab]:
    """A laboratory with a run on a server, whose advice several tests try."""
    with laboratory_in_memory(server_place) as lab:
        lab.document(*SERVER)
        yield lab


class TestPostgreSQL:
    @pytest.mark.parametrize(
        ("advised", "change"),
        [
            (advice("setting", "work_memory", value="1048576"), "work_mem=1MB"),
            (advice("setting", "cache", value="33554432"), "shared_buffers=32MB"),
            (advice("index", "lineitem", columns="l_suppkey,l_partkey"), "index of lineitem"),
            (advice("statistics", "lineitem"), "statistics of lineitem"),
            (advice("vacuum", "orders", gain=None), "vacuum of orders"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_each_kind_of_advice_is_carried_out(
        self, measured: Lab, advised: dict[str, Any], change: str
    ) -> None:
        document = tried(measured, advised, 1)
        assert document["change"].startswith(change)
        assert document["answers"]["verdict"] == "valid"
        (pair,) = document["rounds"]
        after = Run(measured.runs / pair["after"])
        if advised["kind"] == "setting":
            name, _, value = change.partition("=")
            assert after.environment["engine"]["settings"][name] == value
        else:
            assert [file["file"] for file in after.facts["prepared"]] == [document["change"]]
        measured.assert_nothing_left()

    def test_on_a_running_server_the_sessions_have_the_setting(
        self, server, server_lab: Lab
    ) -> None:
        whole = f"host={HOST} port={server.port} dbname={DATABASE} user=owner"
        secret = PASSWORD.replace("\\", "\\\\").replace("'", "\\'")
        dsn = f"{whole} password='{secret}'"
        # The tables stay, so that they are loaded once for all of its runs.
        asked = ("run", "tpch", *ABOUT, *SMALL, "--no-plans", "--keep-data")
        advised = advice("setting", "work_memory", value="12582912")
        try:
            server_lab.document(*asked, "--engine", "postgresql", "--dsn", dsn)
            without = subprocess.run(
                command(server_lab, json.dumps(advised), 1),
                env=server_lab.env(),
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
            document = tried(server_lab, advised, 1, dsn)
        finally:
            server.asked("drop schema if exists assay_tpch_0_01 cascade")
        assert "give the server's address again with --dsn" in without.stderr
        after = Run(server_lab.runs / document["rounds"][0]["after"])
        assert after.environment["engine"]["settings"]["work_mem"] == "12MB"
        assert PASSWORD not in (Path(document["study"]) / "study.toml").read_text()
