"""Compiled templates are kept where nobody else can write, and are no more than a help."""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest

from assay.report.page.compiled import Compiled, compiled_in


def filled(kept: Compiled | None) -> str:
    loader = jinja2.DictLoader({"a": "{{ x }}!"})
    made = jinja2.Environment(loader=loader, autoescape=True, bytecode_cache=kept)
    return made.get_template("a").render(x=1)


def test_what_was_compiled_is_used_again(tmp_path: Path) -> None:
    kept = compiled_in(tmp_path / "templates")
    assert filled(kept) == filled(kept) == "1!"
    assert len(list((tmp_path / "templates").iterdir())) == 1


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o755])
def test_a_folder_that_others_may_enter_is_not_used(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    assert compiled_in(tmp_path) is None


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert compiled_in(tmp_path / "link") is None


def test_a_file_in_its_place_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "templates").write_text("x")
    assert compiled_in(tmp_path / "templates") is None


def test_a_disk_that_takes_nothing_costs_the_help_only(tmp_path: Path) -> None:
    kept = compiled_in(tmp_path / "templates")
    (tmp_path / "templates").rmdir()
    assert filled(kept) == "1!"
