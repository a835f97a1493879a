"""A workload's own name of its scale is an option of `assay run`, and another's is refused."""

from __future__ import annotations

import pytest

from assay.cli.main import run_command
from assay.cli.shared.scale_name import check_scale_name, scale_names
from assay.model.errors import UsageError


def test_names_are_single_words_in_small_letters() -> None:
    assert "sf" in scale_names()
    assert all(name.isalpha() and name == name.lower() for name in scale_names())


def test_ones_own_name_is_taken_and_another_is_refused_with_ones_own() -> None:
    check_scale_name(["sf"], "tpch")
    check_scale_name([], "tpch")
    with pytest.raises(
        UsageError, match=("--warehouses is not an option of tpch: use --scale or --sf")
    ):
        check_scale_name(["warehouses"], "tpch")
    with pytest.raises(UsageError, match="are the same"):
        check_scale_name(["sf", "sf"], "tpch")


def test_the_command_line_understands_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", "tpch", "--sf", "0", "--engine", "null"]) == 1
    assert "--scale 0: the number must be above 0" in capsys.readouterr().err
    assert run_command(["run", "tpch", "--sff", "1"]) == 1
    assert "No such option: --sff" in capsys.readouterr().err
