"""What the documents tell to type, typed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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
