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


SECRET = "kept-from-messages"  # noqa: S105 - made up
ADDRESS = f"postgresql://u:{SECRET}@127.0.0.1/d"


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "tpch", "--dsn", f"u:{SECRET}@127.0.0.1:1/d"],
        ["run", "tpch", "--dsn", f"nosuch:u:{SECRET}@127.0.0.1"],
        ["run", "tpch", "--dsn", f"sqlite:/nosuch?password={SECRET}"],
        ["run", "tpch", "--dsn", f"duckdb:/nosuch?password={SECRET}"],
        ["run", "tpch", ADDRESS],
        ["run", ADDRESS],
        ["run", "tpch", f"--{ADDRESS}"],
        ["show", ADDRESS],
        ["try", "latest", ADDRESS],
        ["run", "tpch", "--fleet", f"tcp://u:{SECRET}@127.0.0.1:1", "--clients", "2"],
        ["agent", f"tcp://u:{SECRET}@127.0.0.1:1"],
        ["agent", f"u:{SECRET}@127.0.0.1:1"],
        ["run", "tpch", "--runs", f"/dev/null/{ADDRESS}"],
    ],
    ids=str,
)
def test_a_password_at_a_wrong_place_is_not_printed(
    arguments: Sequence[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ([], ["--json"]):
        refused = ended([*arguments, *more], place, capsys)
        assert refused.code != 0
        assert SECRET not in refused.out + refused.err
