"""Rules that say what a place in the code works at, and the refusal of those that prove nothing.

A rule rests on functions' names, or on those of callers. It may not match by file alone, nor rest on
the frames that are outermost in every stack, because either would name all samples and explain none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

AS_ITS_CALLER = "as its caller"


@dataclass(frozen=True)
class Rule:
    """One rule. `*` in a glob stands for any characters; everything else, `[` too, for itself.

    Attributes:
        work: What matching frames work at; None of artefacts.
        artefact: Why matching samples say nothing of the engine; None of work.
        symbols: Globs on a function's name without parameters; empty: any named function.
        modules: Globs on the name of its file; empty: any.
        under: Globs of which some caller's name must match one; empty: whatever called it.
        says: A sentence for people.
        origin: Where the rule stands, such as `operations.toml, rule 3`.
    """

    work: str | None
    artefact: str | None
    symbols: tuple[str, ...]
    modules: tuple[str, ...]
    under: tuple[str, ...]
    says: str
    origin: str


@dataclass(frozen=True)
class Rules:
    """Rules in their order.

    Attributes:
        rules: The first that matches decides.
        outermost: Names of executor frames that no rule may rest on.
        families: Globs of functions that are shown as one line.
    """

    rules: tuple[Rule, ...] = ()
    outermost: tuple[str, ...] = ()
    families: tuple[str, ...] = ()


def parse_rules(text: str, source: str) -> Rules:
    """Rules of an `operations.toml`.

    Raises:
        UsageError: If it cannot be read or a rule is refused: `source`, index and reason.
    """
    raise NotImplementedError


def rules_of(document: Mapping[str, Any], source: str) -> Rules:
    """Rules of an `operations.toml` that was read already, as `run.json` keeps it. See `parse_rules`."""
    raise NotImplementedError


def combined(*parts: Rules) -> Rules:
    """All rules in this order, each checked against the outermost frames of all.

    Raises:
        UsageError: If a rule rests on a frame that another part says is outermost.
    """
    raise NotImplementedError
