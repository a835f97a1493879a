"""Knobs by their names: what somebody may have meant."""

from __future__ import annotations

import pytest

from assay.cli.main import run_command
from assay.engines.knobs import KnobsFacts
from assay.model.errors import suggestion

KNOBS = KnobsFacts.model_validate(
    {
        "knobs": {
            "partitions": {
                "setting": "engine.shuffle.partitions",
                "about": "parts",
                "values": "count",
            },
            "page": {"setting": "engine.page", "about": "its size", "values": "bytes"},
        }
    }
)
MEANT = " (the knob 'partitions' of --vary is engine.shuffle.partitions)"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("partitons", MEANT),
        # A knob's name is none of a setting: `--set` does not take it.
        ("partitions", MEANT),
        ("engine.shuffle.partitions", ""),
        ("something", ""),
    ],
)
def test_a_wrong_setting_that_is_like_a_knob(wrong: str, told: str) -> None:
    assert KNOBS.near([wrong]) == told


def test_a_word_that_is_within_others_is_told_by_these() -> None:
    known = [f"setting.{number}" for number in range(30)] + ["engine.shuffle.partitions"]
    told = suggestion("partitions", known)
    assert told == "known: engine.shuffle.partitions and 30 more"


def test_an_engine_is_shown_with_its_knobs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["engines", "show", "duckdb"]) == 0
    shown = capsys.readouterr().out
    assert "Knobs that are worth varying (--vary):\n" in shown
    assert "  memory (memory_limit) " in shown
