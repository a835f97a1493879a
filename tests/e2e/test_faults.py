"""What goes wrong: one clear message that names the mend, the right exit code, nothing left."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import duckdb
import pytest

import assay
from assay.running.changes.left_behind import DATA
from tests.e2e.conftest import (
    FEW,
    SMALL,
    Lab,
    copy_data,
    copy_run,
    end,
    wait_for_phase,
    wait_until,
)

TPCH = Path(assay.__file__).parent / "workloads" / "tpch"
LONG = ["--scale", "0.01", "--min-time", "10m"]


# What a person got wrong: exit code 1, nothing written.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("run", "tpch", "--engine", "dukdb"),
            ["unknown engine 'dukdb'", "did you mean 'duckdb'?"],
        ),
        (("run", "tpcd"), ["unknown workload 'tpcd'", "did you mean 'tpch'?"]),
        (("run", "tpch", "--scale", "-1"), ["--scale -1", "above 0"]),
        (("run", "tpch", "--scale", "1e9"), ["1000000000", "at most 100000"]),
        (("run", "tpch", "--scale", "one"), ["--scale", "number"]),
        (("run", "tpch", "--set", "thraeds=1"), ["'thraeds'", "did you mean 'threads'?"]),
        (("run", "tpch", "--set", "threads=many"), ["threads=many"]),
        (("run", "tpch", "--set", "threads"), ["--set name=value"]),
        (("run", "tpch", "--min-time", "soon"), ["--min-time", "30s"]),
        (("run", "tpch", "--scael", "1"), ["--scael", "--scale"]),
        (("run", "tpch", "--parameters", "random"), ["--parameters random", "drawn"]),
        (("export", "latest", "--to", "xlsx"), ["no runs", "assay run tpch"]),
        (("show", "latest"), ["no runs", "assay run tpch"]),
        (("shwo", "latest"), ["shwo"]),
    ],
)
def test_a_wrong_word_is_one_message(lab, arguments, message):
    result = lab.assay(*arguments)
    assert result.returncode == 1
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert all(word in result.stderr for word in message), result.stderr
    assert not lab.runs.exists() or not list(lab.runs.iterdir())


def test_an_unknown_format_is_named(null_run):
    lab, _ = null_run
    result = lab.assay("export", "latest", "--to", "xlsx")
    assert result.returncode == 1
    assert "parquet" in result.stderr


def test_an_unknown_key_in_a_workload_is_named_with_its_file(lab, tmp_path):
    workload = _copied_workload(tmp_path, "mine")
    manifest = workload / "workload.toml"
    manifest.write_text(manifest.read_text().replace("scale_default", "scale_defualt"))
    lab.extra_env["ASSAY_WORKLOADS"] = str(workload.parent)
    result = lab.assay("run", "mine")
    assert result.returncode == 1
    assert str(manifest) in result.stderr
    assert "did you mean 'scale_default'?" in result.stderr


@pytest.mark.parametrize("wrong", [("--engine", "dukdb"), ("--nope", "1"), ("--scale", "one")])
def test_with_json_an_error_is_a_document_too(lab, wrong):
    document = lab.document("run", "tpch", *wrong, code=1)
    assert wrong[0].strip("-") in document["error"] or wrong[1] in document["error"]
    assert document["exit_code"] == 1


def test_an_unknown_key_in_the_configuration_is_named(lab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "assay.toml").write_text('[run]\nengin = "duckdb"\n')
    result = lab.assay("run", "tpch")
    assert result.returncode == 1
    assert "assay.toml" in result.stderr
    assert "did you mean 'engine'?" in result.stderr


def test_the_configuration_gives_defaults_and_flags_win(lab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "assay.toml").write_text('[run]\nengine = "null"\nmin_time = "100ms"\n')
    assert lab.document("run", "tpch")["engine"] == "null"
    short = (*SMALL, "-o", "q06", "--no-plans")
    assert lab.document("run", "tpch", "--engine", "duckdb", *short)["engine"] == "duckdb"


# Wrong data and wrong answers: never a result.


@pytest.fixture
def loaded(tpch_run) -> Path:
    """A place whose cache has the data of a run that found them right."""
    lab, document = tpch_run
    assert {c["check"]: c["verdict"] for c in document["checks"]}["answers"] == "valid"
    return lab.root


def _corrupt(dataset: Path, *, forge: bool) -> None:
    """Removes a thousandth of lineitem; with `forge`, makes the manifest agree."""
    database = dataset / "data" / "assay.duckdb"
    with duckdb.connect(database) as connection:
        connection.execute("delete from lineitem where l_orderkey % 1000 = 1")
    if forge:
        from assay.record.seal import file_sha256

        manifest = json.loads((dataset / "manifest.json").read_text())
        manifest["files"]["assay.duckdb"]["sha256"] = file_sha256(database)
        (dataset / "manifest.json").write_text(json.dumps(manifest))


def test_a_wrong_answer_never_looks_like_a_result(own_cache_lab, loaded):
    lab = own_cache_lab
    _corrupt(copy_data(lab, loaded, "duckdb"), forge=True)
    document = lab.document("run", "tpch", *FEW, code=3)
    assert document["verdict"] == "invalid"
    assert document["checks"][0]["check"] == "answers"
    assert "instead of" in document["checks"][0]["reason"]
    shown = lab.assay("show", "latest")
    assert shown.returncode == 3
    assert "INVALID" in shown.stdout
    assert "wrong answer" in shown.stdout


def test_damaged_data_is_noticed_and_made_anew(own_cache_lab, loaded):
    lab = own_cache_lab
    _corrupt(copy_data(lab, loaded, "duckdb"), forge=False)
    document = lab.document("run", "tpch", *FEW)
    assert {c["check"]: c["verdict"] for c in document["checks"]}["answers"] == "valid"
    log = (Path(document["path"]) / "raw" / "assay.log").read_text()
    assert "is damaged (assay.duckdb is not what was loaded), so Assay makes it again" in log


def test_a_failed_query_makes_the_run_invalid_and_the_others_go_on(lab, tmp_path):
    workload = _copied_workload(tmp_path, "mine")
    (workload / "operations" / "q07.sql").write_text("select nosuch from lineitem")
    lab.extra_env["ASSAY_WORKLOADS"] = str(workload.parent)
    document = lab.document("run", "mine", *SMALL, "--no-plans", code=3)
    outcomes = {operation["name"]: operation for operation in document["operations"]}
    assert outcomes["q07"]["outcome"] == "failed"
    assert outcomes["q07"]["seconds"] is None
    assert outcomes["q08"]["outcome"] == "ok"
    assert document["metrics"]["total_seconds"] is None
    reasons = " ".join(check["reason"] for check in document["checks"])
    assert "nosuch" in reasons


def test_an_operation_over_its_time_is_cancelled_and_failed(lab, tmp_path):
    workload = _copied_workload(tmp_path, "mine")
    endless = "select count(*) from range(100000000000) as a(n) where sin(n) > 2"
    (workload / "operations" / "q07.sql").write_text(endless)
    lab.extra_env["ASSAY_WORKLOADS"] = str(workload.parent)
    document = lab.document("run", "mine", *SMALL, "--no-plans", "--timeout", "1s", code=3)
    outcomes = {operation["name"]: operation for operation in document["operations"]}
    assert outcomes["q07"]["error"] == "deadline"
    assert outcomes["q12"]["outcome"] == "ok"


def _copied_workload(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / "workloads" / name
    shutil.copytree(TPCH, folder)
    manifest = folder / "workload.toml"
    manifest.write_text(manifest.read_text().replace('name = "tpch"', f'name = "{name}"', 1))
    return folder


# Whatever ends a run: a readable record, no stray process, no stray directory.


def test_ctrl_c_leaves_a_readable_record_and_nothing_else(lab):
    started = lab.begin("run", "tpch", *LONG)
    wait_for_phase(lab, started, "measured")
    code, errors = end(started)
    assert code == 2
    assert "Ctrl-C" in errors
    assert f"assay show {lab.latest()}" in errors
    assert lab.status() == "interrupted"
    lab.assert_nothing_left()
    document = lab.document("show", "latest")
    assert document["verdict"] == "unknown"
    assert document["operations"]


def test_sigterm_ends_as_ctrl_c_does(lab):
    started = lab.begin("run", "tpch", *LONG)
    wait_for_phase(lab, started, "measured")
    code, text = end(started, signal.SIGTERM)
    assert code == 2
    assert "stopped by SIGTERM" in text
    assert lab.status() == "interrupted"
    assert lab.document("show", "latest")["status_reason"] == "stopped by SIGTERM"
    lab.assert_nothing_left()


def test_where_a_record_is_left_the_run_failed(lab):
    """The engine takes the size, and then cannot open its data with it."""
    result = lab.assay("run", "tpch", *SMALL, "--buffer", "1")
    assert result.returncode == 2, result.stderr
    assert lab.status() == "failed"
    first, second = [line for line in result.stderr.splitlines() if line.startswith("assay: ")]
    assert "DuckDB cannot open" in first
    # Nothing was played, so there is nothing to show.
    assert "lists it as refused; its logs are in" in second
    assert "refused" in lab.assay("runs").stdout
    assert result.stderr.endswith(f"{second}\n")
    assert "Possible solutions" not in result.stderr


def test_a_killed_run_stays_readable_and_is_at_best_unknown(lab):
    started = lab.begin("run", "tpch", *LONG)
    wait_for_phase(lab, started, "measured")
    end(started, signal.SIGKILL)
    wait_until(lambda: not lab.strays(), "processes left after kill -9")
    lab.assert_nothing_left()
    assert lab.status() == "running"
    document = lab.document("show", "latest")
    assert document["verdict"] == "unknown"
    assert any(operation["seconds"] for operation in document["operations"])


def test_a_killed_guardian_takes_everything_with_it(lab):
    started = lab.begin("run", "tpch", *LONG)
    wait_for_phase(lab, started, "measured")
    (guardian,) = lab.titled("guardian.py")
    os.kill(guardian, signal.SIGKILL)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 2, errors
    assert "Traceback" not in errors
    assert lab.status() == "failed"
    wait_until(lambda: not lab.strays(), "processes left after the guardian was killed")
    lab.document("run", "tpch", "--engine", "null", *SMALL)
    lab.assert_nothing_left()


def test_a_killed_engine_is_a_failed_run_with_its_signal(lab):
    started = lab.begin("run", "tpch", *LONG)
    wait_for_phase(lab, started, "measured")
    (host,) = lab.titled("assay.running.processes.host")
    os.kill(host, signal.SIGKILL)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 2, errors
    assert "signal 9" in errors
    assert lab.status() == "failed"
    assert lab.document("show", "latest")["verdict"] == "unknown"
    lab.assert_nothing_left()


def test_a_host_that_dies_before_it_is_told_to_go_is_a_failed_run(lab, tmp_path):
    _engine_that(lab, tmp_path, "os.kill(os.getpid(), 9)")
    result = lab.assay("run", "tpch", "--engine", "dying", "--min-time", "1s", "--json")
    assert result.returncode == 2, result.stderr
    assert "signal 9" in result.stderr
    assert json.loads(result.stdout)["status"] == "failed"
    lab.assert_nothing_left()


def test_an_engine_that_raises_tells_its_own_words(lab, tmp_path):
    _engine_that(lab, tmp_path, "raise RuntimeError('no licence found')")
    result = lab.assay("run", "tpch", "--engine", "dying", "--min-time", "1s")
    assert result.returncode == 2
    assert "no licence found" in result.stderr
    assert "Traceback" not in result.stderr
    lab.assert_nothing_left()


def _engine_that(lab: Lab, tmp_path: Path, act: str) -> None:
    """A third party's engine: the null engine, but for what it does when asked for sessions."""
    folder = tmp_path / "engines" / "dying"
    shutil.copytree(TPCH.parents[1] / "engines" / "null", folder)
    manifest = folder / "engine.toml"
    manifest.write_text(manifest.read_text().replace('name = "null"', 'name = "dying"'))
    (folder / "engine.py").write_text(
        "import os\n"
        "from assay.engines.null.engine import NullEngine\n"
        "class Dying(NullEngine):\n"
        "    def sessions(self, instance, script, seed, clients):\n"
        f"        {act}\n"
        "def engine(facts):\n"
        "    return Dying(facts)\n"
    )
    lab.extra_env["ASSAY_ENGINES"] = str(folder.parent)


def test_a_killed_load_is_swept_by_the_next_start(own_cache_lab):
    lab = own_cache_lab
    started = lab.begin("run", "tpch", "--scale", "1")
    wait_until(lab.partial_data, "loading did not begin")
    end(started, signal.SIGKILL)
    lab.assert_nothing_left(but=DATA)
    assert lab.partial_data()
    lab.document("run", "tpch", "--engine", "null", *SMALL)
    assert not lab.partial_data()
    lab.assert_nothing_left()


def test_an_interrupted_load_leaves_nothing_that_looks_like_data(own_cache_lab):
    lab = own_cache_lab
    started = lab.begin("run", "tpch", "--scale", "1")
    wait_until(lambda: list(lab.datasets.glob("*.partial/data/*.duckdb*")), "loading did not begin")
    code, _ = end(started)
    assert code == 2
    lab.assert_nothing_left()
    assert not [path for path in lab.datasets.iterdir() if path.is_dir()]
    assert lab.status() == "interrupted"


# The host refuses something.


def _with_small_disk(place: Path, size: str) -> tuple[str, ...]:
    script = f'mount -t tmpfs -o size={size} none "$0" && exec "$@"'
    return ("unshare", "--mount", "--map-root-user", "sh", "-c", script, str(place))


def test_a_full_disk_under_the_record_is_told_and_what_was_measured_is_kept(lab, tmp_path):
    kept = tmp_path / "kept"
    small = tmp_path / "small"
    small.mkdir()
    # The namespace's disk goes with its processes: copy what is on it before that.
    script = 'mount -t tmpfs -o size=1m none "$0" && "$@"; code=$?; cp -r "$0" "$KEPT"; exit $code'
    prefix = ("unshare", "--mount", "--map-root-user", "sh", "-c", script, str(small))
    lab.extra_env["KEPT"] = str(kept)
    arguments = ("run", "tpch", "--engine", "null", "--min-time", "60s", "--runs", str(small))
    result = lab.assay(*arguments, prefix=prefix)
    assert result.returncode == 2, result.stderr
    assert "No space left" in result.stderr
    assert "Traceback" not in result.stderr
    (run,) = kept.iterdir()
    assert json.loads((run / "run.json").read_text())["status"] in {"running", "failed"}
    lab.assert_nothing_left()


def test_a_full_disk_under_the_data_is_told(own_cache_lab):
    lab = own_cache_lab
    result = lab.assay("run", "tpch", *SMALL, prefix=_with_small_disk(lab.root / "cache", "2m"))
    assert result.returncode == 2, result.stderr
    assert "space" in result.stderr
    assert "Traceback" not in result.stderr
    lab.assert_nothing_left()


def test_a_kernel_file_that_cannot_be_read_is_not_measured_and_said(lab, tmp_path):
    strange = tmp_path / "meminfo"
    strange.write_text("MemTotal: much kB\n")
    script = f'mount --bind {strange} /proc/meminfo && exec "$0" "$@"'
    prefix = ("unshare", "--mount", "--map-root-user", "sh", "-c", script)
    document = lab.document("run", "tpch", *SMALL, prefix=prefix)
    assert document["verdict"] == "unknown"
    probes = {check["check"]: check for check in document["checks"]}["probes"]
    assert "probe system failed" in probes["reason"]
    assert "meminfo" in probes["reason"]
    assert document["operations"][0]["seconds"] > 0


def test_doctor_says_what_is_not_known_and_all_the_rest(lab):
    script = 'mount -t tmpfs none /proc && exec "$0" "$@"'
    prefix = ("unshare", "--mount", "--map-root-user", "sh", "-c", script)
    result = lab.assay("doctor", "--json", prefix=prefix)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    abilities = json.loads(result.stdout)
    seen = {ability["name"]: ability["seen"] for ability in abilities}
    assert {"engine duckdb", "space for runs", "CPU times", "limits"} <= seen.keys()
    left = [ability["seen"] for ability in abilities if ability["name"] == "left behind"]
    assert "mount: not known: /proc/self/mountinfo: No such file or directory" in left


def test_doctor_names_directories_that_are_files(lab, tmp_path):
    (tmp_path / "file").touch()
    lab.extra_env |= dict.fromkeys(("XDG_STATE_HOME", "XDG_CACHE_HOME"), str(tmp_path / "file"))
    seen = {ability["name"]: ability["seen"] for ability in lab.document("doctor")}
    assert seen["space for data"] == f"{tmp_path / 'file'} is not a directory"
    assert "not known" in seen["left behind"]
    assert "Not a directory" in seen["left behind"]


def test_runs_that_cannot_be_written_name_the_place(lab, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    result = lab.assay("run", "tpch", "--engine", "null", *SMALL, "--runs", str(blocked / "runs"))
    assert result.returncode == 1
    assert "--runs" in result.stderr


@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "XDG_CACHE_HOME"])
@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("file", "file: Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("/proc/x", "cannot create files in /proc"),
    ],
)
def test_a_directory_that_cannot_be_written_is_told_before_any_work(
    lab, tmp_path, variable, place, reason
):
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    lab.extra_env[variable] = str(tmp_path / place)
    document = lab.document("run", "tpch", *FEW, code=1)
    assert reason in document["error"]
    assert f"Set {variable} to a directory" in document["error"]
    study = lab.document("sweep", "tpch", *FEW, "--vary", "set.threads=1,2", code=1)
    assert reason in study["error"]
    assert not lab.runs.exists()


def test_changes_in_a_directory_that_is_a_file_are_not_restored(lab, tmp_path):
    (tmp_path / "file").touch()
    lab.extra_env["XDG_STATE_HOME"] = str(tmp_path / "file")
    result = lab.assay("doctor", "--restore")
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "Set XDG_STATE_HOME to a directory" in result.stderr


# Records that are not as they were.


@pytest.fixture
def sealed(lab, null_run) -> tuple[Lab, Path]:
    _, document = null_run
    return lab, copy_run(lab, document)


def test_a_changed_record_is_invalid(sealed):
    lab, run = sealed
    with (run / "raw" / "events.arrows").open("r+b") as file:
        file.seek(-200, os.SEEK_END)
        file.write(b"\xff" * 8)
    document = lab.document("show", "latest", code=3)
    assert document["verdict"] == "invalid"
    assert "events.arrows" in document["checks"][0]["reason"]


def test_a_corrupt_run_file_names_itself(sealed):
    lab, run = sealed
    (run / "run.json").write_text('{"schema": 1, "id": ')
    result = lab.assay("show", run.name)
    assert result.returncode == 3
    assert "run.json" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_record_of_a_newer_version_asks_for_a_newer_assay(sealed):
    lab, run = sealed
    facts = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(facts | {"schema": 99}))
    # That version would have sealed it so.
    (run / "SEAL").unlink()
    result = lab.assay("show", run.name)
    assert result.returncode == 1
    assert "newer" in result.stderr


def test_no_such_run_names_the_nearest(sealed):
    lab, run = sealed
    result = lab.assay("show", run.name + "x")
    assert result.returncode == 1
    assert run.name in result.stderr
