"""The document holds to its schema whatever became of the run; what is derived can be rebuilt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from assay.record.reader import Run
from assay.report import document as document_module
from assay.report.build import build
from assay.report.document import document
from tests.plans import tpch_plans, with_plans
from tests.records import OPERATIONS, PASSES, truncate_run, write_run
from tests.sampled import as_sampled

SCHEMA = json.loads(
    (Path(document_module.__file__).parent / "document.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def document_of(directory: Path) -> dict[str, Any]:
    made = document(Run(directory), directory)
    VALIDATOR.validate(json.loads(json.dumps(made, allow_nan=False)))
    return made


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_forbids_what_it_does_not_name(tmp_path: Path) -> None:
    made = document_of(write_run(tmp_path)) | {"surprise": 1}
    with pytest.raises(jsonschema.ValidationError, match="surprise"):
        VALIDATOR.validate(made)


def test_a_complete_run_has_every_figure(tmp_path: Path) -> None:
    made = document_of(write_run(tmp_path))
    assert made["verdict"] == "valid"
    assert made["metrics"]["total_seconds"] == pytest.approx(sum(OPERATIONS.values()))
    assert made["metrics"]["passes"] == PASSES
    assert {op["name"]: op["seconds"] for op in made["operations"]} == pytest.approx(OPERATIONS)
    assert made["accounts"]["cpus"] == 2
    assert made["probes"]["core_share"] > 0
    assert made["findings"][0]["interval_words"] == "one run, no interval"
    assert made["conditions"] == {
        "arrival": "power",
        "clients": None,
        "rate_per_s": None,
        "time_s": None,
        "killed": False,
        "state": "hot",
        "parameters": "default",
        "seed": 1,
        "min_time_s": 2.0,
        "probe_interval_s": 0.1,
        "sorted_by": {},
        "load_order": [],
        "order_note": None,
        "prepare": [],
        "operations": [],
        "remove": [],
        "without": [],
        "durability": None,
        "think_time": False,
        "foreign_keys": False,
        "pipeline": False,
        "writes": None,
        "as_recorded": None,
        "pooled": False,
        "fleet": None,
        "servers": None,
    }


def test_the_parts_of_an_operation_add_up_to_one(tmp_path: Path) -> None:
    for operation in document_of(write_run(tmp_path))["operations"]:
        assert sum(share or 0.0 for share in operation["where"].values()) == pytest.approx(1.0)


def test_plans_are_told_with_what_follows_from_them(tmp_path: Path) -> None:
    missing = {"operation": "q02", "statement": 1, "reason": "it is no query", "capture_s": 0.1}
    made = document_of(with_plans(write_run(tmp_path), tpch_plans(), [missing]))
    assert list(made["plans"]) == ["q01", "q02", "q03"]
    (plan,) = made["plans"]["q03"]
    nodes = list(walked(plan["root"]))
    assert sum(node["share"] for node in nodes) == pytest.approx(1.0)
    assert [node["native"] for node in nodes if node["worst"]] == ["HASH_GROUP_BY"]
    assert made["plan_capture"]["missing"] == [missing | {"name": None}]
    assert [operation["ratio"] for operation in made["plan_capture"]["operations"]] == [
        2.0,
        2.0,
        2.0,
    ]


def walked(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["children"]:
        yield from walked(child)


def test_a_run_without_plans_says_why(tmp_path: Path) -> None:
    made = document_of(write_run(tmp_path))
    assert made["plans"] == {}
    assert "older" in made["plan_capture"]["reason"]


def test_a_profiled_run_tells_what_its_cpu_time_went_into(tmp_path: Path) -> None:
    profile = document_of(as_sampled(write_run(tmp_path)))["profile"]
    for part in ("work", "symbols"):
        assert sum(row["samples"] for row in profile[part]) == profile["samples"]
        assert sum(row["share"] for row in profile[part]) == pytest.approx(1.0)
    for operation in profile["operations"]:
        assert sum(row["share"] for row in operation["work"]) == pytest.approx(1.0)
    probe = next(row for row in profile["symbols"] if row["work"] == "hash probe")
    assert probe["members_count"] == len(probe["members"]) == 3
    assert sum(member["samples"] for member in probe["members"]) == probe["samples"]


def test_a_run_without_samples_has_no_profile(tmp_path: Path) -> None:
    assert document_of(write_run(tmp_path))["profile"] is None


def test_a_run_tells_what_its_metrics_depend_on(tmp_path: Path) -> None:
    section = document_of(as_sampled(write_run(tmp_path)))["what_if"]
    names = [metric["metric"] for metric in section["metrics"]]
    for sensitivity in section["sensitivity"]:
        assert [weight["metric"] for weight in sensitivity["weights"]] == names
    changes = [worth_row["metrics"][0]["change"] for worth_row in section["worth"]]
    assert changes == sorted(changes)
    assert {"work", "wait"} == {worth_row["kind"] for worth_row in section["worth"]}
    # Three passes are too few for an interval.
    assert section["passes"] == 0


@pytest.mark.parametrize("failing", ["q02", None])
def test_there_is_no_what_if_without_a_metric(tmp_path: Path, failing: str | None) -> None:
    directory = write_run(tmp_path, failing=failing)
    if failing is None:
        (truncate_run(directory) / "raw" / "events.arrows").unlink()
    assert document_of(directory)["what_if"] is None


def test_a_damaged_profile_does_not_take_the_other_figures_along(tmp_path: Path) -> None:
    directory = as_sampled(write_run(tmp_path))
    (directory / "raw" / "stacks.arrows").write_bytes(b"not a stream")
    made = document_of(directory)
    assert made["profile"] is None
    assert made["metrics"]["total_seconds"] is not None


def test_a_killed_run_has_the_figures_of_its_part(tmp_path: Path) -> None:
    made = document_of(truncate_run(write_run(tmp_path)))
    assert made["status"] == "running"
    assert made["verdict"] == "unknown"
    assert 0 < made["metrics"]["passes"] < PASSES


def test_a_run_without_probes_measured_no_resources(tmp_path: Path) -> None:
    made = document_of(write_run(tmp_path, probes=False))
    assert made["verdict"] == "unknown"
    assert made["accounts"] is None
    assert made["probes"] == {"core_share": None, "each": {}}
    assert made["metrics"]["total_seconds"] is not None


def test_a_run_without_events_has_no_operations(tmp_path: Path) -> None:
    directory = truncate_run(write_run(tmp_path))
    (directory / "raw" / "events.arrows").unlink()
    made = document_of(directory)
    assert made["operations"] == []
    assert made["metrics"]["total_seconds"] is None
    assert made["verdict"] == "unknown"


def test_a_run_without_environment_knows_no_host(tmp_path: Path) -> None:
    directory = truncate_run(write_run(tmp_path))
    (directory / "environment.json").unlink()
    assert document_of(directory)["host"]["memory_bytes"] is None


def test_a_failed_operation_takes_the_total_with_it(tmp_path: Path) -> None:
    made = document_of(write_run(tmp_path, failing="q02"))
    assert made["verdict"] == "invalid"
    failed = made["operations"][1]
    assert (failed["outcome"], failed["error"], failed["seconds"]) == (
        "failed",
        "out_of_memory",
        None,
    )
    assert made["metrics"]["total_seconds"] is None


def test_build_keeps_summary_and_page(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    made = build(directory)
    kept = json.loads((directory / "derived" / "summary.json").read_text(encoding="utf-8"))
    assert kept == json.loads(json.dumps(made))
    VALIDATOR.validate(kept)
    assert Path(made["report"]).read_text(encoding="utf-8").startswith("<!doctype html>")


def test_what_is_derived_is_not_part_of_the_seal(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    build(directory)
    assert Run(directory).broken_seals() == []


def test_a_record_that_cannot_be_written_to_is_still_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = write_run(tmp_path)
    (directory / "derived").rmdir()
    (directory / "derived").write_text("in the way", encoding="utf-8")
    made = build(directory)
    assert made["report"] is None
    assert made["verdict"] == "valid"
    assert "was not stored: cannot" in caplog.text
