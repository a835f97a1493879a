"""Hides `${name}` parameters of a SQL text from the parser."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Self

from assay.workloads.scripts import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping

# Numbers are written as they are read in every dialect, which no form of parameter is.
FIRST = 910_000_001


@dataclass(frozen=True)
class Masked:
    """A SQL text in which each parameter is replaced by a unique number.

    Attributes:
        text: The text with numbers.
        parameters: Parameters as the text has them, such as `${slope}`, by number.
    """

    text: str
    parameters: Mapping[str, str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Return a SQL text with its parameters replaced by unique numbers."""
        numbers = (number for number in map(str, count(FIRST)) if number not in text)
        by_parameter: dict[str, str] = {}

        def number_of(match: re.Match[str]) -> str:
            if match[0] not in by_parameter:
                by_parameter[match[0]] = next(numbers)
            return by_parameter[match[0]]

        masked = PLACEHOLDER.sub(number_of, text)
        return cls(masked, {number: parameter for parameter, number in by_parameter.items()})

    def restored(self, text: str) -> str:
        """Return a rewritten SQL text with the parameters put back."""
        if not self.parameters:
            return text
        numbers = re.compile("|".join(self.parameters))
        return numbers.sub(lambda match: self.parameters[match[0]], text)
