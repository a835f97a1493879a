"""Shares of operations' time: those that are large enough, their products, and their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def names_text(names: Sequence[str], most: int = 3) -> str:
    """Return text with the first `most` names and the number of the others."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left} more" if left > 0 else "")


def at_least(fractions: Mapping[str, float], least: float) -> dict[str, float]:
    """Return the fractions by operation that are large enough to be named."""
    return {name: fraction for name, fraction in fractions.items() if fraction >= least}


def product(fractions: Mapping[str, float], factors: Mapping[str, float]) -> dict[str, float]:
    """Return fractions by operation times their factors, without fractions that have no factor."""
    return {name: part * factors[name] for name, part in fractions.items() if name in factors}
