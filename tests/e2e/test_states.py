"""A state that is asked for is set on real files, looked at, and borne out by what queries read."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import POSTGRESQL, Lab, server_laboratory
from tests.e2e.server import DATABASE, HOST, PASSWORD

ENGINES = pytest.mark.parametrize("engine", ["duckdb", POSTGRESQL])
SCALE = ["--scale", "0.01"]
PLAIN = ["--no-plans"]
ONE = ["--operation", "q06"]
# On these there is no other place for a file's pages than memory.
OF_MEMORY = {"tmpfs", "ramfs"}


@pytest.fixture
def lab(server_place: Path) -> Iterator[Lab]:
    """A laboratory on a disk where embedded engines and servers of ours can be started."""
    with server_laboratory(server_place) as lab:
        yield lab


def check(document: dict[str, Any], name: str = "state") -> dict[str, Any]:
    (chosen,) = (candidate for candidate in document["checks"] if candidate["check"] == name)
    return chosen


def phases(lab: Lab) -> list[tuple[str, int]]:
    """Phases of the last run with their passes, as they were carried out."""
    from assay.record.reader import Run

    events = Run(lab.latest()).table("events").sort("started_ns")
    return [
        (str(name), int(passes.max()) + 1)
        for (name,), frame in events.group_by("phase", maintain_order=True)
        for passes in [frame["pass"]]
    ]


@ENGINES
def test_cold_has_nothing_in_memory_and_its_first_query_reads(lab: Lab, engine: str) -> None:
    asked = ["--state", "cold", *PLAIN]
    result = lab.assay("run", "tpch", "--engine", engine, *SCALE, *asked, "--json")
    assert result.returncode == 0, result.stderr
    assert_the_start_comes_after_the_state_and_is_told_once(result.stderr)
    document = json.loads(result.stdout)
    state = document["state"]
    assert phases(lab) == [("measured", 1)]
    assert state["data_bytes"] > 1 << 20
    if document["host"]["filesystem"] in OF_MEMORY:
        assert not state["reached"]
        assert "not reached" in check(document)["reason"]
        return
    assert state["resident_share"] < 0.05
    # The system reads ahead: of a file of some megabytes the start may bring in the most.
    assert state["first_read_bytes"] + state["resident_bytes_after_start"] > 0
    assert check(document)["verdict"] == "valid", check(document)["reason"]
    assert check(document, "answers")["verdict"] == "valid"
    # What was left alone is said to be.
    assert any("--allow-host-changes" in sentence for sentence in state["left"])
    assert state["host_changes"] == []
    assert document["conditions"]["state"] == "cold"
    lab.assert_nothing_left()


def assert_the_start_comes_after_the_state_and_is_told_once(output: str) -> None:
    parts = [line[2:26].rstrip() for line in output.splitlines() if line.startswith("  ")]
    first = parts.index("state cold")
    assert parts[first : first + 3] == ["state cold", "start", "measured"]
    assert "start" not in parts[:first]


@ENGINES
def test_os_warm_has_all_files_in_memory(lab: Lab, engine: str) -> None:
    document = lab.document("run", "tpch", "--engine", engine, *SCALE, "--state", "os-warm", *PLAIN)
    assert phases(lab) == [("measured", 1)]
    assert document["state"]["resident_share"] > 0.95
    assert check(document)["verdict"] == "valid", check(document)["reason"]
    assert document["conditions"]["state"] == "os-warm"


@ENGINES
def test_hot_has_as_many_passes_as_it_says(lab: Lab, engine: str) -> None:
    asked = ["--state", "hot:2", "--min-time", "100ms", *ONE]
    document = lab.document("run", "tpch", "--engine", engine, *SCALE, *asked, *PLAIN)
    assert phases(lab)[0] == ("warmup", 2)
    assert document["state"]["passes"] == 2
    assert "hot after 2 passes" in lab.assay("show", "latest").stdout


@ENGINES
def test_what_prepare_changed_is_cold_too(lab: Lab, engine: str, tmp_path: Any) -> None:
    file = tmp_path / "index.sql"
    file.write_text("create index of_names on customer (c_name);\n")
    asked = ["--state", "cold", "--prepare", str(file)]
    document = lab.document("run", "tpch", "--engine", engine, *SCALE, *asked, *PLAIN)
    assert [prepared_file["file"] for prepared_file in _recorded(lab)["prepared"]] == [str(file)]
    if document["host"]["filesystem"] not in OF_MEMORY:
        assert document["state"]["resident_share"] < 0.05
    assert check(document, "answers")["verdict"] == "valid"
    lab.assert_nothing_left()


def test_passes_are_repeated_in_a_cold_run_where_that_is_asked_for(lab: Lab) -> None:
    # A pass of one query ends within the second on a busy host, too.
    asked = [*ONE, "--state", "cold", "--min-time", "1s"]
    lab.document("run", "tpch", *SCALE, *asked, *PLAIN)
    ((name, passes),) = phases(lab)
    assert (name, passes > 1) == ("measured", True)


def test_a_mix_in_a_cold_state_has_no_warm_up(lab: Lab) -> None:
    asked = ["--engine", POSTGRESQL, *SCALE, "--state", "cold", "--clients", "2", "--time", "1s"]
    document = lab.document("run", "tpch", *asked, *PLAIN)
    assert {name for name, _ in phases(lab)} == {"measured"}
    assert document["state"]["passes"] is None


def test_the_buffer_is_the_engines_own_setting(lab: Lab) -> None:
    asked = ["--engine", POSTGRESQL, *SCALE, "--buffer", "64MB", "--min-time", "10ms", *ONE]
    lab.document("run", "tpch", *asked, *PLAIN)
    assert _recorded(lab)["request"]["settings"] == {"shared_buffers": "64MB"}
    document = json.loads((lab.latest() / "environment.json").read_text())
    assert document["engine"]["settings"]["shared_buffers"] == "64MB"


def test_the_client_is_kept_off_the_engines_cpus(lab: Lab) -> None:
    first, *rest = sorted(os.sched_getaffinity(0))
    if not rest:
        pytest.skip("there is one CPU: no other is left for the client")
    pin = ["--pin", f"engine={first},client=rest", "--min-time", "10ms", *ONE]
    lab.document("run", "tpch", "--engine", POSTGRESQL, *SCALE, *pin, *PLAIN)
    document = json.loads((lab.latest() / "environment.json").read_text())
    assert document["pin"] == {"engine": [first], "client": rest}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--state", "tepid"], "--state tepid: write cold, os-warm, loaded, hot, or hot:N"),
        (
            ["--state", "hot:0"],
            "--state hot:0: write cold, os-warm, loaded, hot, or hot:N for N passes",
        ),
        (
            ["--state", "cold:2"],
            "--state cold:2: write cold, os-warm, loaded, hot, or hot:N for N passes",
        ),
        (["--engine", "null", "--state", "cold"], "null stores no data"),
        (["--clients", "2", "--state", "hot:2"], "a mix has no passes"),
        (["--clients", "2", "--state", "cold", "--warmup", "2s"], "a warm-up changes that state"),
        (["--engine", "null", "--buffer", "1GB"], "--buffer: null: it has no setting for cache"),
        (["--buffer", "much"], "write it like 256MB"),
        (
            ["--buffer", "1GB", "--set", "memory_limit=2GB"],
            "--buffer and --set memory_limit change the same setting",
        ),
        (["--pin", "client=node77"], "--pin client=node77: there is no node77"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    lab: Lab, arguments: list[str], message: str
) -> None:
    result = lab.assay("run", "tpch", *SCALE, *arguments)
    assert result.returncode == 1
    assert message in " ".join(result.stderr.split())
    assert not lab.runs.exists()


def test_a_running_server_is_its_owners_to_restart(lab: Lab) -> None:
    dsn = f"postgresql://somebody:{PASSWORD}@{HOST}:1/{DATABASE}"
    result = lab.assay("run", "tpch", *SCALE, "--dsn", dsn, "--state", "cold")
    assert result.returncode == 1
    assert "its owner's" in " ".join(result.stderr.split())
    assert PASSWORD not in result.stderr


def _recorded(lab: Lab) -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads((lab.latest() / "run.json").read_text())
    return recorded


def test_a_file_system_of_memory_alone_cannot_be_cold(lab: Lab) -> None:
    from assay.running.host.environment import describe_host

    place = Path("/dev/shm")  # noqa: S108 - it is the file system that is asked for
    kind = describe_host(place)["data_filesystem"]["type"] if place.is_dir() else "absent"
    if kind not in OF_MEMORY:
        pytest.skip(f"{place} is {kind}: this host has no file system of memory for it")
    with tempfile.TemporaryDirectory(prefix="assay-lab-", dir=place) as state:
        lab.extra_env["XDG_STATE_HOME"] = state
        document = lab.document("run", "tpch", *SCALE, "--state", "cold", *PLAIN)
    assert document["verdict"] == "unknown"
    assert document["conditions"]["state"] == "cold (not reached)"
    assert document["state"]["resident_share"] == 1
    assert check(document)["reason"].startswith("the state cold was not reached: 100 % of")
