"""Who killed a process for want of memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.running.changes.killed import killed_on_host, killed_words

LIMITS = {"memory": 60 * 2**20}


def test_the_limit_is_named_with_its_size() -> None:
    message = killed_words(LIMITS, 1, 5, 6)
    assert message == "the memory limit of 60 MiB (--limit memory) killed a process of the engine"


def test_without_a_limit_it_was_the_kernel() -> None:
    message = killed_words({}, None, 5, 6)
    assert message is not None
    assert message.startswith("the kernel killed a process for want of memory")


@pytest.mark.parametrize(("before", "now"), [(5, 5), (None, 6), (5, None), (None, None)])
def test_nobody_is_blamed_where_nobody_was_killed(before: int | None, now: int | None) -> None:
    assert killed_words(LIMITS, 0, before, now) is None


def test_a_kernel_that_does_not_count_has_no_number(tmp_path: Path) -> None:
    (tmp_path / "vmstat").write_text("pgfault 12\n")
    assert killed_on_host(tmp_path / "vmstat") is None
    (tmp_path / "vmstat").write_text("pgfault 12\noom_kill 3\n")
    assert killed_on_host(tmp_path / "vmstat") == 3
