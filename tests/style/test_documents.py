"""Links in documents lead somewhere."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.style.sources import ROOT

FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:|^//")


def documents() -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def prose(path: Path) -> str:
    return INLINE_CODE.sub("", FENCED.sub("", path.read_text("utf-8")))


def links(path: Path) -> list[str]:
    text = prose(path)
    return [
        link
        for link in [*LINK.findall(text), *DEFINITION.findall(text)]
        if not ELSEWHERE.match(link)
    ]


@cache
def anchors(path: Path) -> set[str]:
    """Anchors of headings as forges make them."""
    headings = HEADING.findall(FENCED.sub("", path.read_text("utf-8")))
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


def broken(path: Path) -> list[str]:
    broken_links = []
    for link in links(path):
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        headless = bool(anchor) and target.is_file() and anchor not in anchors(target)
        if not target.exists() or headless:
            broken_links.append(link)
    return broken_links


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_relative_link_leads_to_a_file_and_its_heading(path: Path) -> None:
    assert broken(path) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# A Heading: first!\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "[good](there.md) [good](there.md#a-heading-first)\n"
        "[web](https://example.org) `[code](x.md)`\n"
        "[bad](gone.md) [bad](there.md#no-such) ![bad](gone.png)\n[ref]: gone-too.md\n"
        "```\n[fenced](gone.md)\n```\n",
        encoding="utf-8",
    )
    assert broken(page) == ["gone.md", "there.md#no-such", "gone.png", "gone-too.md"]
