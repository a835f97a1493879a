"""Output in the guides on one's own database has the words that the program prints today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.checks.answers import TO_COMPARE
from assay.report.terminal.before_after import INTERVALS
from assay.report.words.wrapping import indented, one_line

OWN = Path(__file__).parents[2] / "docs" / "own"
GUIDES = sorted(OWN.glob("*.md"))


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_before_and_after_end_with_the_line_on_intervals(guide: Path) -> None:
    tables = re.findall(r"(?ms)^Before and after\n.*?(?=^```)", guide.read_text("utf-8"))
    assert tables
    last = "\n".join(indented(INTERVALS, "  ", 80))
    assert [table for table in tables if not table.rstrip().endswith(last)] == []


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_trials_of_addresses_without_a_password_do_not_repeat_the_address(guide: Path) -> None:
    """The record of a run has such an address, so that `assay try` needs no other."""
    commands = re.findall(r"To try: `(assay try [^`]+)`", guide.read_text("utf-8"))
    assert commands
    assert [command for command in commands if "--dsn" in one_line(command)] == []


def test_answers_that_were_not_compared_have_today_s_words() -> None:
    text = one_line((OWN / "your-own-database.md").read_text("utf-8"))
    assert f"there are no reference answers for these queries. {TO_COMPARE}" in text
