"""The one document that `--json` prints, which every reader of JSON takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.shared.output import say_json


def refused(constant: str) -> None:
    pytest.fail(f"{constant} is no JSON")


def test_numbers_that_json_lacks_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [float("inf"), float("-inf"), float("nan")]
    say_json({"s": wrong[0], "rows": [(1.5, wrong[1]), {"x": wrong[2]}], "path": Path("a")})
    document = json.loads(capsys.readouterr().out, parse_constant=refused)
    assert document == {"s": None, "rows": [[1.5, None], {"x": None}], "path": "a"}
