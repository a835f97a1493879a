"""Links of the documentation, in the repository and on the site.

A page may stand outside of `docs/` (a README, ARCHITECTURE.md), and a link may lead to a source
file. On the site both have another place.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^ {0,3}(```|~~~)")
ITEM = re.compile(r"^(?:[-*]|\d+\.) ")


def repository_path(page: str, link: str) -> str:
    """Return the path in the repository that a link of a page leads to, without its anchor."""
    path = link.partition("#")[0]
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page


def is_external(link: str) -> bool:
    """Return whether a link leads out of the repository."""
    return re.match(r"[a-z][a-z+]*:", link) is not None


def site_links(text: str, page: str, place: str, places: Mapping[str, str], root: Path) -> str:
    """Return a page's text with its links as the site needs them.

    Args:
        text: The page, in Markdown.
        page: Its path in the repository.
        place: Its path below the folder of pages.
        places: Paths below the folder of pages, by path in the repository.
        root: The repository.
    """

    def moved(match: re.Match[str]) -> str:
        link = match[2]
        if is_external(link):
            return match[0]
        path, anchor = repository_path(page, link), link.partition("#")[1:]
        target = places.get(path) or _default_place(path, root)
        relative = posixpath.relpath(target, posixpath.dirname(place) or ".")
        return f"{match[1]}{relative if link[0] != '#' else ''}{''.join(anchor)}{match[3]}"

    return LINK.sub(moved, text)


def _default_place(path: str, root: Path) -> str:
    """Return where a file without a page of its own stands: source files are copied."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}" if (root / path).is_file() else path


def source_links(text: str, page: str, places: Mapping[str, str], root: Path) -> set[str]:
    """Return the source files that a page links to, which the site has to have."""
    paths = {repository_path(page, m[2]) for m in LINK.finditer(text) if not is_external(m[2])}
    return {
        path
        for path in paths
        if path not in places and not path.startswith("docs/") and (root / path).is_file()
    }


def spaced_lists(text: str) -> str:
    """Return Markdown with an empty line before each list, which Python-Markdown asks for."""
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        fenced ^= FENCE.match(line) is not None
        before = lines[-1] if lines else ""
        if not fenced and ITEM.match(line) and before and not _belongs_to_list(before):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def _belongs_to_list(line: str) -> bool:
    return ITEM.match(line) is not None or line.startswith("  ")
