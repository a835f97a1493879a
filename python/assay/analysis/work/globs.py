"""Globs over names: `*` matches any characters, every other character only itself."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

STAR = "*"


def is_any(glob: str) -> bool:
    """Return True if a glob pattern matches every name."""
    return not glob.strip(STAR)


def pattern(globs: Iterable[str]) -> re.Pattern[str]:
    """Return a regular expression that matches if one of the globs does."""
    patterns = [".*".join(re.escape(part) for part in glob.split(STAR)) for glob in globs]
    return re.compile("|".join(patterns) if patterns else r"(?!)", re.DOTALL)


class Names:
    """Sorted names that globs can search without comparing each name."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = sorted(set(names))

    def matching(self, glob: str) -> list[str]:
        """Return the names that match a glob."""
        prefix, star, rest = glob.partition(STAR)
        begin = bisect_left(self.names, prefix)
        if not star:
            return self.names[begin : begin + 1] if prefix in self.names[begin : begin + 1] else []
        end = bisect_left(self.names, prefix + chr(0x10FFFF), begin)
        if is_any(rest):
            return self.names[begin:end]
        matches = pattern([glob]).fullmatch
        return [name for name in self.names[begin:end] if matches(name)]
