"""Defaults come only from files that no other user can write: they name programs to execute."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.cli.shared import configuration
from assay.model.errors import UsageError

STRANGER = 65534
KEYS = {"bin_dir": "bin_dir"}
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in the current directory, with one default."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    file = tmp_path / "assay.toml"
    file.write_text('[run]\nbin_dir = "bin"\n', encoding="utf-8")
    file.chmod(0o644)
    return file


def read() -> dict[str, object]:
    return configuration.defaults(["run"], lambda _: KEYS)


def refused() -> str:
    with pytest.raises(UsageError) as raised:
        read()
    return str(raised.value)


def test_a_file_of_ones_own_is_read(here: Path) -> None:
    assert read() == {"run": {"bin_dir": "bin"}}
    here.chmod(0o664)
    assert read() == {"run": {"bin_dir": "bin"}}
    here.unlink()
    assert read() == {}


def test_a_file_that_anybody_can_write_is_refused(here: Path) -> None:
    here.chmod(0o646)
    assert refused().startswith(f"{here} can be written by another user")


@needs_root
def test_a_file_of_another_user_is_refused_but_not_of_the_one_behind_sudo(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.chown(here, STRANGER, 0)
    assert "who could make Assay execute a program" in refused()
    monkeypatch.setenv("SUDO_UID", str(STRANGER))
    assert read() == {"run": {"bin_dir": "bin"}}


@needs_root
def test_a_link_that_another_user_made_is_refused(here: Path) -> None:
    own = here.rename(here.with_name("own.toml"))
    here.symlink_to(own)
    assert read() == {"run": {"bin_dir": "bin"}}
    os.chown(here, STRANGER, STRANGER, follow_symlinks=False)
    assert "can be written by another user" in refused()


@needs_root
def test_a_file_that_a_group_of_others_can_write_is_refused(here: Path) -> None:
    os.chown(here, 0, STRANGER)
    here.chmod(0o664)
    assert "chmod go-w" in refused()


def test_a_pipe_is_not_waited_for(here: Path) -> None:
    here.unlink()
    os.mkfifo(here)
    assert "it is not a regular file" in refused()
