"""What the documents tell to type, typed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT, Command, commands_of, pages
from tests.e2e.conftest import ASSAY

COMMANDS = [command for page in pages() for command in commands_of(page)]
MARKED = [command for command in COMMANDS if command.run]
# Why commands of a verb are read by the command line's parser, but not carried out as they stand.
MEASURES = "it measures for seconds to hours; tests/e2e carries out a shorter form"
SERVER = "it asks a server or a log of the reader's; tests/e2e does so on servers of its own"
NEEDS_RUNS = "it names a run of the reader's; tests/e2e and tests/golden have runs of their own"
WRITES = "it obtains, removes or writes much; tests/e2e and tests/unit do so in places of their own"
NOT_RUN = {
    **dict.fromkeys(("run", "sweep", "compare", "tune", "plans", "durability"), MEASURES),
    **dict.fromkeys(("why", "diagnose", "ceiling", "study"), MEASURES),
    **dict.fromkeys(("observe", "capture", "answers", "agent"), SERVER),
    **dict.fromkeys(("try", "whatif", "size", "explain", "show"), NEEDS_RUNS),
    **dict.fromkeys(("engines", "workloads", "studies", "generate", "cache"), WRITES),
    **dict.fromkeys(("completion", "doctor"), WRITES),
}
QUERY = re.compile(r"<!-- query: ([\w-]+) -->\n```python\n(.*?)```", re.DOTALL)
QUERIES = dict(QUERY.findall((ROOT / "docs" / "reference" / "record-format.md").read_text()))


def test_three_queries_are_shown():
    assert len(QUERIES) == 3


@pytest.fixture
def run_dir(tpch_run) -> Path:
    _, document = tpch_run
    return Path(document["path"])


@pytest.mark.parametrize("name", list(QUERIES))
def test_a_shown_query_runs_on_a_real_record_without_assay(run_dir, name):
    # -I keeps our own package out of the way; the libraries are found all the same.
    command = [sys.executable, "-I", "-c", QUERIES[name]]
    result = subprocess.run(command, cwd=run_dir, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert re.search(r"\d", result.stdout)
    assert "assay" not in QUERIES[name]


def test_the_format_page_names_every_file_of_a_record(run_dir):
    page = (ROOT / "docs" / "reference" / "record-format.md").read_text()
    for path in (run_dir / "raw").iterdir():
        if path.is_file():
            stem = path.name.split("-")[0] if "-" in path.name else path.name
            assert stem in page, path.name


@pytest.fixture(scope="module")
def place(tpch_run, tmp_path_factory) -> tuple[Path, dict[str, str]]:
    """A folder with one run in it, as a reader of the pages has, and its environment."""
    lab, _ = tpch_run
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(lab.runs, folder / "runs")
    return folder, {**lab.env(), "ASSAY_RUNS": str(folder / "runs")}


@pytest.mark.parametrize("command", MARKED, ids=str)
def test_a_marked_command_is_carried_out(place, command: Command):
    folder, env = place
    result = subprocess.run(
        [str(ASSAY), *command.words],
        cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout or result.stderr


def test_what_is_not_carried_out_has_a_reason():
    assert {command.words[0] for command in COMMANDS if not command.run} == set(NOT_RUN)
    assert len(MARKED) > 8
