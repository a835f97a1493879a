"""Assay as the user `nobody`: what is not possible is not measured with a reason, or one error."""

from __future__ import annotations

import grp
import json
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.engines.contract import Wanted, tell_nobody
from assay.engines.discovery import find_engine
from assay.engines.postgresql.programs import find_programs
from tests.e2e.conftest import POSTGRESQL, reachable_directory
from tests.e2e.server import RunningServer

USER = "nobody"
PATIENCE_S = 120.0
BRIEF = ("--scale", "0.01", "--operation", "q06", "--min-time", "100ms", "--no-plans")
ON_HOST = "--allow-host-changes"
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
# Above this value, the kernel lets only root sample its own functions.
PARANOID_USERS_MAX = 1

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")


@dataclass(frozen=True)
class Nobody:
    """The user, with directories of their own.

    Attributes:
        root: Directory of the user.
        python: An interpreter that the user can execute.
        programs: Directory of PostgreSQL's programs.
    """

    root: Path
    python: str
    programs: Path

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    def assay(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Execute a command of Assay; it shows no traceback."""
        ended = as_nobody(self.root, self.python, "-m", "assay.cli.main", *arguments)
        assert "Traceback" not in ended.stdout + ended.stderr, ended.stderr
        return ended

    def document(self, *arguments: str) -> dict[str, Any]:
        """Return the document of a run that was completed with right answers."""
        ended = self.assay("run", "tpch", *BRIEF, *arguments, "--json")
        assert ended.returncode == 0, ended.stderr
        document = json.loads(ended.stdout)
        assert document["status"] == "complete"
        verdicts = {check["check"]: check["verdict"] for check in document["checks"]}
        assert (verdicts["answers"], verdicts["completeness"]) == ("valid", "valid")
        assert json.loads((Path(document["path"]) / "run.json").read_text())["status"] == "complete"
        return document


def as_nobody(root: Path, *command: str, **places: Path) -> subprocess.CompletedProcess[str]:
    """Execute a program as the user, with nothing of our environment but paths of modules.

    `places` are variables of other directories than those in `root`.
    """
    entry = pwd.getpwnam(USER)
    environment = {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": str(root),
        "XDG_CACHE_HOME": str(root / "cache"),
        "XDG_STATE_HOME": str(root / "state"),
        "ASSAY_RUNS": str(root / "runs"),
        "ASSAY_RUN_PAGE": "no",
        "PYTHONPATH": ":".join(filter(None, sys.path)),
        **{name: str(place) for name, place in places.items()},
    }
    return subprocess.run(
        command,
        env=environment,
        cwd=root,
        user=entry.pw_uid,
        group=entry.pw_gid,
        extra_groups=[],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def interpreter(root: Path) -> str:
    """Return an interpreter of our version that the user can execute with our modules."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        try:
            if as_nobody(root, python, "-c", "import assay._core").returncode == 0:
                return python
        except OSError:
            continue
    pytest.skip(f"{USER} can execute no {version} with Assay's modules")


@pytest.fixture(scope="module")
def nobody(server_place: Path) -> Iterator[Nobody]:
    """Directories that only the user can write to; programs of engines are root's."""
    entry = pwd.getpwnam(USER)
    engine = find_engine("postgresql").engine()
    engines = server_place / "cache" / "assay" / "engines"
    product = engine.obtain(Wanted(engines, POSTGRESQL.partition("@")[2]), tell_nobody)
    with reachable_directory() as root:
        os.chown(root, entry.pw_uid, entry.pw_gid)
        programs = find_programs((product.home or Path()).resolve()).bin_dir
        yield Nobody(root, interpreter(root), programs)


def test_the_user_is_not_root_and_has_no_other_group(nobody: Nobody) -> None:
    ids = as_nobody(nobody.root, "/usr/bin/id", "-nu").stdout.split()
    groups = as_nobody(nobody.root, "/usr/bin/id", "-nG").stdout.split()
    assert ids == [USER]
    assert groups == [grp.getgrgid(pwd.getpwnam(USER).pw_gid).gr_name]


def test_doctor_gives_a_reason_for_each_missing_measurement(nobody: Nobody) -> None:
    ended = nobody.assay("doctor", "--json")
    assert ended.returncode == 0, ended.stderr
    abilities = {ability["name"]: ability for ability in json.loads(ended.stdout)}
    assert abilities["own device"]["works"] == "no"
    assert "root" in abilities["own device"]["seen"]
    assert {ability["works"] for ability in abilities.values()} <= {"yes", "partly", "no"}
    assert all(ability["seen"] for ability in abilities.values() if ability["works"] != "yes")


def test_an_embedded_engine_runs_cold(nobody: Nobody) -> None:
    assert nobody.document("--state", "cold")["conditions"]["state"].startswith("cold")


def test_a_server_runs_and_its_profile_says_what_is_missing(nobody: Nobody) -> None:
    server = ("--engine", "postgresql", "--bin-dir", str(nobody.programs))
    document = nobody.document(*server, "--profile")
    notes = " ".join(document["profile"]["sampling"]["notes"])
    is_missing = int(PARANOID.read_text()) > PARANOID_USERS_MAX
    assert ("time in the kernel" in notes and "kernel.perf_event_paranoid" in notes) == is_missing


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--limit", "memory=512MB", ON_HOST), "control groups"),
        (("--device", "own", ON_HOST), "loop devices"),
        (("--read-ahead", "0", ON_HOST), "may not write"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_change_that_needs_root_is_one_error(
    nobody: Nobody, arguments: tuple[str, ...], reason: str
) -> None:
    before = sorted(nobody.runs.glob("*"))
    ended = nobody.assay("run", "tpch", *BRIEF, *arguments)
    errors = [line for line in ended.stderr.splitlines() if line.startswith("assay: ")]
    assert (ended.returncode, len(errors)) == (1, 1), ended.stderr
    assert arguments[0] in errors[0]
    assert reason in errors[0]
    assert "root" in errors[0]
    assert sorted(nobody.runs.glob("*")) == before


def test_functions_of_another_users_server_are_not_sampled_and_the_reason_is_given(
    nobody: Nobody, server: RunningServer
) -> None:
    queries = nobody.root / "queries"
    queries.mkdir()
    (queries / "count.sql").write_text("select count(*) from customers")
    brief = ("--min-time", "100ms", "--no-plans", "--engine", "postgresql", "--profile")
    ended = nobody.assay("run", str(queries), "--dsn", server.dsn(), *brief, "--json")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert document["status"] == "complete"
    assert document["operations"][0]["failed"] == 0
    # Only root may sample processes of others.
    assert "refuses CPU samples" in document["probes"]["each"]["profile"]["error"]
    verdicts = {check["check"]: check for check in document["checks"]}
    assert verdicts["probes"]["verdict"] == "unknown"
    assert "probe profile failed: the kernel refuses CPU samples" in verdicts["probes"]["reason"]


@pytest.fixture
def user() -> Iterator[Path]:
    """A directory of the user."""
    entry = pwd.getpwnam(USER)
    with reachable_directory() as root:
        os.chown(root, entry.pw_uid, entry.pw_gid)
        yield root


@pytest.fixture
def of_root() -> Iterator[Path]:
    """A directory of root's with an instance directory and a data set, as root's runs leave it."""
    with reachable_directory() as root:
        (root / "assay" / "instances").mkdir(parents=True)
        (root / "assay" / "instances" / ".sweep.lock").touch(0o600)
        data = root / "assay" / "datasets" / "tpch-1-duckdb-0123456789ab" / "data"
        data.mkdir(parents=True)
        (data / "assay.duckdb").write_bytes(os.urandom(8192))
        yield root


RUN = ("run", "tpch", *BRIEF)


@pytest.mark.parametrize(
    ("variable", "mode", "arguments"),
    [
        ("XDG_STATE_HOME", 0o711, (*RUN, "--engine", "null")),
        ("XDG_STATE_HOME", 0o700, (*RUN, "--engine", "null")),
        ("XDG_STATE_HOME", 0o711, ("doctor", "--restore")),
        ("XDG_CACHE_HOME", 0o755, ("cache", "prune", "--keep", "0")),
        ("XDG_CACHE_HOME", 0o700, ("cache", "prune", "--keep", "0")),
        ("XDG_CACHE_HOME", 0o700, ("cache",)),
        ("XDG_CACHE_HOME", 0o755, RUN),
        ("XDG_CACHE_HOME", 0o700, ("run", "tpch", "--scale", "100")),
    ],
)
def test_directories_of_another_user_are_one_error(
    user: Path, of_root: Path, variable: str, mode: int, arguments: tuple[str, ...]
) -> None:
    for directory in (of_root, *(of_root / "assay").iterdir()):
        directory.chmod(mode)
    python = interpreter(user)
    ended = as_nobody(user, python, "-m", "assay.cli.main", *arguments, **{variable: of_root})
    errors = ended.stderr.splitlines()
    assert (ended.returncode, len(errors)) == (1, 1), ended.stderr
    assert f"Set {variable} to a directory in which this user can create files" in errors[0]
    assert "Permission denied" in errors[0]
    assert ended.stdout == ""
    assert not (user / "runs").exists()


def test_a_cache_of_another_user_that_can_be_read_is_listed(user: Path, of_root: Path) -> None:
    command = (interpreter(user), "-m", "assay.cli.main", "cache", "--json")
    ended = as_nobody(user, *command, XDG_CACHE_HOME=of_root)
    assert ended.returncode == 0, ended.stderr
    assert len(json.loads(ended.stdout)["datasets"]) == 1
