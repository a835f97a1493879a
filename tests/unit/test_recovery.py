"""Runs whose engine was killed: what checks and the figure say of them, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from assay.analysis.answers.recovery import looks
from assay.analysis.figures.contract import Asked
from assay.analysis.figures.loads.durability import figure
from assay.analysis.study_runs import StudyRun
from assay.checks import completeness, conditions, mix, outcomes, recovery
from assay.model.errors import RunFailedError, UsageError
from assay.model.verdict import Verdict
from assay.record.reader import Run
from assay.record.seal import write_seal
from assay.record.writer import write_json
from assay.report.document import document
from assay.report.words.conditions import load_conditions
from assay.running.asked.asking import considered
from assay.running.asked.options import RunOptions
from assay.running.asked.understanding import request_of
from assay.running.processes.process_table import read_process
from assay.running.server.faults import Kill
from assay.running.server.recovery import Recoveries
from assay.running.server.subject import Subject
from assay.study.durability import CRASH, Crashes, durability_study, parse_between
from tests.conftest import write_result, write_stream
from tests.loads import an_operation, closed, write_load
from tests.records import BEGUN_NS, MS, S

RECEIPT = {"operation": "select", "names": ["w_id", "o_id"], "found": "entered"}
KILLED_NS = BEGUN_NS + 2 * S
FAULT = {"kind": "kill", "signal": "SIGKILL", "asked_s": 2.0, "at_ns": KILLED_NS}
BRIEF = Crashes(kills=3, copies=0, between_s=(2.0, 5.0))


def receipt(number: int, key: tuple[int, int], finished_ns: int) -> dict[str, Any]:
    row = {"sequence": number, "operation": "select", "finished_ns": finished_ns}
    return row | {"values": list(key)}


def killed(
    tmp_path: Path,
    acknowledged: list[tuple[int, int]],
    receipts: list[tuple[int, int]] | None,
    *,
    violated: int = 0,
    **recovered: Any,
) -> Run:
    """A run whose engine was killed after two seconds, and what was found then."""
    events = [an_operation(number, number * 10 * MS, 0, MS) for number in range(100)]
    cut = {"outcome": "failed", "error": "cancelled", "rows": None, "digest": None}
    events.append(an_operation(100, 2 * S, 0, MS, **cut))
    path = write_load(tmp_path, closed(2), events, 10.0)
    raw = path / "raw"
    rows = [receipt(at, key, BEGUN_NS + at * MS) for at, key in enumerate(acknowledged)]
    write_stream(raw / "receipts.arrows", rows)
    results = raw / "recovered" / "1" / "results"
    results.mkdir(parents=True)
    asked = [("entered", len(receipts or [])), ("sums", violated)] if receipts is not None else []
    write_stream(
        results.parent / "events.arrows",
        [
            an_operation(at, at * MS, 0, MS, operation=name, rows=rows, phase="recovered")
            for at, (name, rows) in enumerate(asked)
        ],
    )
    if receipts is not None:
        columns = [pa.array([key[at] for key in receipts], pa.int32()) for at in (0, 1)]
        kept = results / f"entered-{1:016x}-{1:016x}.arrow"
        write_result(kept, pa.table(columns, names=["a", "b"]))
    (raw / "results" / "expected" / "sums.csv").write_text("n\n")
    facts = json.loads((path / "run.json").read_text())
    facts["workload"] |= {"receipt": RECEIPT, "after": ["sums"], "shares_min": {"update": 0.9}}
    kill = {"number": 1, "kind": "kill", "before_ns": None, "recovery_s": 1.5, "error": None}
    write_json(path / "run.json", facts | {"fault": FAULT, "recovered": [kill | recovered]})
    driver = json.loads((raw / "driver.json").read_text())
    write_json(raw / "driver.json", driver | {"ended": "cancelled"})
    write_seal(path)
    return Run(path)


def test_all_that_was_acknowledged_is_there(tmp_path: Path) -> None:
    run = killed(tmp_path, [(1, 1), (1, 2)], [(1, 2), (1, 1), (1, 3)])
    result = recovery.check(run)
    assert (result.verdict, result.value) == (Verdict.VALID, 0.0)
    assert "all 2 acknowledged select were found after SIGKILL" in result.reason
    assert "1 more had no answer yet" in result.reason
    # What is left of the load has been measured, and nothing of it failed.
    for check in (outcomes, completeness, mix, conditions):
        assert check.check(run).verdict is Verdict.VALID, check.check(run).reason
    assert "100 operations ended before the engine was killed" in outcomes.check(run).reason


def test_what_is_lost_is_counted_and_named(tmp_path: Path) -> None:
    run = killed(tmp_path, [(1, 1), (1, 2), (1, 2), (1, 3)], [(1, 2)])
    result = recovery.check(run)
    assert (result.verdict, result.value) == (Verdict.INVALID, 3.0)
    assert "3 of 4 acknowledged select were lost after SIGKILL" in result.reason
    assert "w_id 1, o_id 1; w_id 1, o_id 2; w_id 1, o_id 3" in result.reason


def test_a_copy_has_what_was_acknowledged_before_it_began(tmp_path: Path) -> None:
    asked = {"kind": "copy", "before_ns": BEGUN_NS + 2 * MS}
    run = killed(tmp_path, [(1, 1), (1, 2), (1, 3)], [(1, 1), (1, 2)], **asked)
    assert recovery.check(run).verdict is Verdict.VALID
    (look,) = looks(run)
    assert (look.comparison.acknowledged, look.at_ns) == (2, BEGUN_NS + 2 * MS)


def test_a_database_that_is_not_recovered_has_lost_all(tmp_path: Path) -> None:
    run = killed(tmp_path, [(1, 1)], None, recovery_s=None, error="its log is torn")
    result = recovery.check(run)
    assert (result.verdict, result.value) == (Verdict.INVALID, 1.0)
    assert "its log is torn" in result.reason


def test_a_database_that_a_run_ended_at_has_lost_nothing_that_is_known(tmp_path: Path) -> None:
    run = killed(tmp_path, [(1, 1)], None, recovery_s=None)
    assert looks(run) == []
    result = recovery.check(run)
    assert (result.verdict, result.value) == (Verdict.UNKNOWN, None)
    assert "the state of its database after the crash is not known" in result.reason


def test_copies_that_were_not_asked_are_not_known(tmp_path: Path) -> None:
    path = write_load(tmp_path, closed(2), [an_operation(0, 0, 0, MS)], 1.0)
    facts = json.loads((path / "run.json").read_text())
    write_json(path / "run.json", facts | {"copies": [{"number": 0, "began_ns": 1, "ended_ns": 2}]})
    result = recovery.check(Run(path))
    assert result.verdict is Verdict.UNKNOWN
    assert "the state of the database in the copies is not known" in result.reason


def test_a_killed_run_is_as_long_as_until_then(tmp_path: Path) -> None:
    run = killed(tmp_path, [(1, 1)], [(1, 1)])
    conditions = document(run, run.dir)["conditions"]
    assert (conditions["time_s"], conditions["killed"]) == (2.0, True)
    run_conditions = load_conditions({"conditions": conditions})
    assert run_conditions is not None
    assert "killed after 2 s" in run_conditions


def test_nothing_acknowledged_proves_nothing(tmp_path: Path) -> None:
    assert recovery.check(killed(tmp_path, [], [])).verdict is Verdict.UNKNOWN


def test_a_condition_that_a_recovered_database_violates_is_invalid(tmp_path: Path) -> None:
    result = conditions.check(killed(tmp_path, [(1, 1)], [(1, 1)], violated=2))
    assert result.verdict is Verdict.INVALID
    assert "sums was violated after the load, by 2 rows" in result.reason


def test_a_run_without_a_crash_is_not_checked(tmp_path: Path) -> None:
    events = [an_operation(number, number * MS, 0, MS) for number in range(10)]
    run = Run(write_load(tmp_path, closed(2), events, 1.0))
    result = recovery.check(run)
    assert (result.verdict, result.measured) == (Verdict.VALID, False)


def test_the_figure_sums_up_kills_and_names_each(tmp_path: Path) -> None:
    runs = [
        killed(tmp_path / str(number), [(1, 1), (1, 2)], receipts)
        for number, receipts in enumerate(([(1, 1), (1, 2)], [(1, 2)]))
    ]
    asked = tuple(
        StudyRun("crash", {"moment": f"kill {number}"}, 1, run)
        for number, run in enumerate(runs, 1)
    )
    made_figure = figure(Asked("durability", "durability", "What survived", asked))
    assert made_figure.says == ("PostgreSQL lost 1 of 4 acknowledged select, in 1 of 2 kills.",)
    sums, each = made_figure.tables
    assert sums.rows == (("PostgreSQL", "SIGKILL", 2, 4, 3, 1, 1.5, 1.5, 1.5),)
    assert [row[-1] for row in each.rows] == [None, "lost 2.00 s before: w_id 1, o_id 1"]
    assert any("page cache" in note for note in made_figure.notes)


def test_the_figure_of_copies_says_how_often_an_operation_counts(tmp_path: Path) -> None:
    asked = {"kind": "copy", "before_ns": BEGUN_NS + 2 * MS}
    run = killed(tmp_path, [(1, 1), (1, 2), (1, 3)], [(1, 1)], **asked)
    studied = (StudyRun("device", {"moment": "copies"}, 1, run),)
    made_figure = figure(Asked("durability", "durability", "What survived", studied))
    assert made_figure.says == (
        "PostgreSQL lost 1 of 2 acknowledged select, in 1 of 1 copy of the device.",
    )
    assert any("once for each copy" in note for note in made_figure.notes)
    assert not any("page cache" in note for note in made_figure.notes)


def test_the_figure_praises_nobody_where_nothing_was_acknowledged(tmp_path: Path) -> None:
    studied = tuple(
        StudyRun("crash", {"moment": f"kill {number}"}, 1, killed(tmp_path / str(number), [], []))
        for number in (1, 2)
    )
    made_figure = figure(Asked("durability", "durability", "What survived", studied))
    assert made_figure.says == (
        "PostgreSQL: no select had been acknowledged, so 2 kills prove nothing.",
    )


def test_runs_that_were_not_crashed_are_missing_from_it(tmp_path: Path) -> None:
    events = [an_operation(number, number * MS, 0, MS) for number in range(10)]
    run = Run(write_load(tmp_path, closed(2), events, 1.0))
    made_figure = figure(Asked("d", "durability", "", (StudyRun("a", {}, 1, run),)))
    assert made_figure.tables == ()
    assert "nothing was killed" in made_figure.missing[0]


# What is asked for.


def asked_for(workload: str = "tpcc", **options: Any) -> Any:
    given = {"workload": workload, "engine": "postgresql", **options}
    return request_of(RunOptions.model_validate(given), list(options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workload": "tpcb", "kill": "2s"}, ["tpcb declares no receipts", "name one of tpcc"]),
        ({"kill": "40s"}, ["--kill 40s", "ends after 30 s"]),
        ({"kill": "2s", "slow": {"cpu": "2"}}, ["--kill and --slow"]),
        ({"kill": "2s", "operation": ["payment"]}, ["declares no receipts"]),
        ({"kill": "0s"}, ["--kill 0", "above 0"]),
        ({"kill": "soon"}, ["--kill"]),
        (
            {"kill": "2s", "dsn": "postgresql://a@localhost/b"},
            ["--kill: Assay does not kill a running server"],
        ),
    ],
)
def test_a_kill_that_would_tell_nothing_is_refused(
    options: dict[str, Any], message: list[str]
) -> None:
    with pytest.raises(UsageError) as refused:
        considered(asked_for(**options))
    assert all(word in str(refused.value) for word in message), refused.value


def test_a_killed_engine_is_not_asked_after_the_load() -> None:
    plain, asked = considered(asked_for()), considered(asked_for(kill="2s"))
    names = [[phase["name"] for phase in asked_run.plan["phases"]] for asked_run in (plain, asked)]
    assert names[0] == [*names[1], "after"]
    assert (plain.plan.get("loses_engine"), asked.plan["loses_engine"]) == (None, True)


def test_names_of_a_receipt_are_those_of_its_program(tmp_path: Path) -> None:
    import assay

    folder = tmp_path / "mine"
    ours = Path(assay.__file__).parent / "workloads" / "tpcc"
    for file in ours.rglob("*"):
        if file.is_file():
            target = folder / file.relative_to(ours)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    manifest = folder / "workload.toml"
    text = manifest.read_text()
    manifest.write_text(text.replace('names = ["w_id", "d_id"', 'names = ["w", "d_id"'))
    with pytest.raises(UsageError, match="w_id, d_id, o_id"):
        considered(asked_for(workload=str(folder)))
    manifest.write_text(text.replace('found = "entered"', 'found = "c01"'))
    with pytest.raises(
        UsageError, match="also a measured operation: it may run on recovered databases only"
    ):
        considered(asked_for(workload=str(folder)))
    manifest.write_text(text.replace('operation = "new-order"\nnames', 'operation = "c01"\nnames'))
    with pytest.raises(UsageError, match="only operations of order with a program have receipts"):
        considered(asked_for(workload=str(folder)))


def test_moments_are_drawn_from_the_seed_and_differ() -> None:
    def moments(seed: int) -> list[float]:
        (part,) = durability_study(asked_for(seed=seed), BRIEF).parts
        assert part.name == CRASH
        return [variant.request.kill_s for variant in part.variants]  # type: ignore[union-attr]

    assert moments(1) == moments(1) != moments(2)
    assert len(set(moments(1))) == 3
    assert all(2.0 <= moment <= 5.0 for moment in moments(1))


def test_a_part_that_cannot_be_made_is_left_out_with_its_reason() -> None:
    study = durability_study(asked_for(), Crashes(1, 1, (1.0, 1.0)))
    assert [part.name for part in study.parts] == ["crash"]
    assert "--allow-host-changes" in study.without["device"]
    with pytest.raises(UsageError, match="--kills"):
        durability_study(asked_for(), Crashes(0, 0, (1.0, 1.0)))


@pytest.mark.parametrize("text", ["5s-2s", "soon", "0s-1s", ""])
def test_moments_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--between"):
        parse_between(text)


def test_one_moment_is_enough() -> None:
    assert parse_between("3s") == (3.0, 3.0)


# The kill itself.

TREE = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
time.sleep(600)
"""


def test_every_process_of_the_engine_is_killed() -> None:
    run_facts: dict[str, Any] = {}
    run: Any = SimpleNamespace(update=run_facts.update)
    kill = Kill(0.5, run)
    assert kill.due_in_s is None
    kill.hear({"kind": "progress", "phase": "warmup", "begun_s": 0.0})
    assert kill.due_in_s is None
    kill.hear({"kind": "progress", "phase": "measured", "begun_s": 0.0})
    assert kill.due_in_s == 0.0
    with subprocess.Popen([sys.executable, "-c", TREE], stdout=subprocess.PIPE, text=True) as root:
        assert root.stdout is not None
        child = int(root.stdout.readline())
        kill.strike(Subject("mine", {}, (root.pid,)), [os.getpid()])
        assert root.wait() == -9
    left = read_process(child)
    assert left is None or not left.alive
    assert set(run_facts["fault"]["pids"]) == {root.pid, child}
    assert run_facts["fault"]["at_ns"] <= run_facts["fault"]["gone_ns"]
    assert kill.due_in_s is None


def test_an_engine_that_is_gone_cannot_be_killed() -> None:
    run: Any = SimpleNamespace(update=lambda **_: None)
    kill = Kill(0.5, run)
    with pytest.raises(RunFailedError, match="the load ended before"):
        kill.check()
    with pytest.raises(RunFailedError, match="the engine ended by itself before --kill was due"):
        kill.strike(Subject("mine", {}, ()), [os.getpid()])


def test_receipts_of_an_operation_are_read_by_their_names() -> None:
    from assay.analysis.answers.recovery import receipts_of

    stream = pl.DataFrame(
        {"operation": ["a", "b"], "finished_ns": [1, 2], "values": [[3, 4], [5, 6]]}
    )
    assert receipts_of(stream, "b", ["x", "y"]).rows() == [(2, 5, 6)]


def test_data_that_cannot_be_read_are_recorded_as_not_recovered() -> None:
    run_facts: dict[str, Any] = {}
    recoveries = Recoveries(None, None, SimpleNamespace(update=run_facts.update))  # type: ignore[arg-type]
    recoveries.add_refused("copy", 5, RunFailedError("no file system on it"))
    (recovered_run,) = run_facts["recovered"]
    assert (recovered_run["number"], recovered_run["kind"], recovered_run["before_ns"]) == (
        1,
        "copy",
        5,
    )
    assert (recovered_run["recovery_s"], recovered_run["error"]) == (None, "no file system on it")
