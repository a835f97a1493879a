"""A workload or study that cannot be read is refused in one message, with 1, and makes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.manifests import STUDIES, WORKLOADS, Files, written
from tests.faults.refused import ended, place

__all__ = ["place"]


@pytest.mark.parametrize("files", WORKLOADS.values(), ids=WORKLOADS)
def test_a_workload_is_refused_in_one_message(
    files: Files, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(place / "own", files)
    asked = ("run", "./own", "--engine", "duckdb", "--json")
    assert ended(asked, place, capsys).faults(as_json=True) == []


@pytest.mark.parametrize("text", STUDIES.values(), ids=STUDIES)
def test_a_study_is_refused_in_one_message(
    text: str | bytes, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(place / "own", {"study.toml": text})
    assert ended(("study", "./own", "--json"), place, capsys).faults(as_json=True) == []


def test_answers_are_not_kept_through_a_link_that_leads_out(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    written(place / "own", {"q.sql": "select 1 as n", "answers": "-> ../elsewhere"})
    asked = ("answers", "./own", "--engine", "duckdb", "--keep", "--json")
    kept = ended(asked, place, capsys)
    assert kept.code == 1
    assert "leads out of" in kept.err
    assert not list(elsewhere.iterdir())
