"""Whatever a command is given wrongly, it says so in one message, ends with 1 and makes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.faults.arguments import command_lines, short
from tests.faults.refused import ended, place

__all__ = ["place"]


@pytest.mark.parametrize("arguments", list(command_lines()), ids=short)
def test_it_is_refused_in_one_message(
    arguments: Sequence[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(arguments, place, capsys).faults(as_json="--json" in arguments) == []
