"""The tables of a run that is opened in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.report.notebook import CHANGES, OPERATIONS, TIME, LoadedRun, load_run
from tests.records import write_run


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedRun:
    return load_run(str(write_run(tmp_path)), tmp_path)


class TestLoadedRun:
    def test_operations_are_those_of_the_document(self, loaded: LoadedRun) -> None:
        assert tuple(loaded.operations.columns) == OPERATIONS
        assert loaded.operations["operation"].to_list() == [
            row["name"] for row in loaded.document["operations"]
        ]

    def test_parts_of_the_time_add_up_to_their_node(self, loaded: LoadedRun) -> None:
        assert tuple(loaded.time.columns) == TIME
        for (name,), tree in loaded.time.group_by("operation"):
            first_level = tree.filter(
                (tree["path"] != "") & ~tree["path"].str.contains("/", literal=True)
            )
            if first_level.height:
                assert first_level["share"].sum() == pytest.approx(1.0, abs=0.02), name

    def test_causes_are_findings_that_say_why(self, loaded: LoadedRun) -> None:
        assert all(cause["tells"] == "cause" for cause in loaded.causes)

    def test_a_run_beside_itself_did_not_change(self, loaded: LoadedRun) -> None:
        changes = loaded.before_after(loaded)
        assert tuple(changes.columns) == CHANGES
        assert changes["factor"].to_list() == pytest.approx([1.0] * changes.height)
        assert set(changes["verdict"]) <= {"within noise", "not known"}
