"""Type for something that may or may not be possible on this host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.model.errors import error_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True)
class Ability:
    """A kind of measurement that may be possible on this host or not.

    Attributes:
        name: Name of the ability.
        works: `yes`, `partly` or `no`.
        seen: Observation from the trial.
        mend: How to allow more; empty if nothing is missing, or if nothing can be done.
    """

    name: str
    works: str
    seen: str
    mend: str = ""


def known(name: str, examine: Callable[[], Iterable[Ability]]) -> list[Ability]:
    """Return the abilities that a function finds, or one that says why they are not known.

    A host without a file of the kernel, or with one in another form, is what `assay doctor` shows.
    """
    try:
        return list(examine())
    except OSError as error:
        return [Ability(name, "no", f"not known: {error_words(error)}")]
    except Exception as error:  # noqa: BLE001 - the other abilities are still examined
        return [Ability(name, "no", f"not known: {type(error).__name__}: {error}")]
