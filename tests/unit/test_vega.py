"""The charts' program is made once, and a cache that cannot be used costs time and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.report.page import vega


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was made anew, in the order in which it was."""
    texts: list[str] = []

    def bundle() -> str:
        texts.append(f"program {len(texts)}")
        return texts[-1]

    monkeypatch.setattr(vega, "_bundle", bundle)
    return texts


def test_it_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[str]) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert [vega.program(), vega.program()] == ["program 0", "program 0"]
    assert len(made) == 1
    assert [file.suffix for file in (tmp_path / "assay" / "report").iterdir()] == [".js"]


def test_it_is_made_anew_for_another_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    vega.program()
    monkeypatch.setattr(vega, "version", lambda name: "99")
    assert vega.program() == made[1]


def test_a_cache_that_cannot_be_used_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: list[str]
) -> None:
    (tmp_path / "assay").write_text("a file, no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert [vega.program(), vega.program()] == made


def test_the_real_one_gives_the_page_what_it_calls() -> None:
    assert "vegaEmbed" in vega.program()
