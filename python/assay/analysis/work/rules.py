"""Rules that say what a place in the code works at, and the refusal of those that prove nothing.

A rule rests on functions' names, or on those of callers. It may not match by file alone, nor rest
on the frames that are outermost in every stack: either would name all samples and explain none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from assay.analysis.work.globs import is_any, pattern
from assay.analysis.work.rule_files import read_document, validated
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

AS_ITS_CALLER = "as its caller"
DRIVER = "driver"
UNCLASSIFIED = "unclassified"
PLANNING = "optimiser/parse"
# What is done of a statement before it is executed, in that order.
STEPS = ("parse", "name resolution", "optimise")
# What an engine's code can be doing, in the field's words.
WORDS = (
    "scan",
    "decode",
    "filter",
    "index look-up",
    "join",
    "hash build",
    "hash probe",
    "join filter",
    "aggregate",
    "sort",
    "window",
    "exchange",
    "result",
    "update",
    "expression",
    "string match",
    PLANNING,
    "catalogue",
    "scheduling",
    "transaction",
    "buffer manager",
    "locking",
    "log",
    "maintenance",
    "memory",
    "network/protocol",
    "kernel I/O",
    "kernel memory",
    "idle",
    DRIVER,
)
SHARED = "common.toml"

Glob = Annotated[str, Field(min_length=1)]


class RuleFacts(BaseModel):
    """`[[rules]]` of an `operations.toml`; see `Rule` for what the keys mean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    work: str | None = None
    artefact: str | None = Field(default=None, min_length=1)
    symbols: tuple[Glob, ...] = ()
    modules: tuple[Glob, ...] = ()
    under: tuple[Glob, ...] = ()
    step: str | None = None
    says: str = Field(min_length=1)


class FileFacts(BaseModel):
    """`operations.toml` as a whole; each rule is read for itself."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    outermost: tuple[str, ...] = ()
    families: tuple[Glob, ...] = ()
    rules: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Rule:
    """One rule. `*` in a glob stands for any characters; everything else, `[` too, for itself.

    Attributes:
        work: What matching frames work at; None of artefacts.
        artefact: Why matching samples say nothing of the engine; None of work.
        symbols: Globs on a function's name without parameters; empty means any named function.
        modules: Globs on the name of its file; empty means any.
        under: Globs of which some caller's name must match one; empty means whatever called it.
        step: Which of `STEPS` matching frames are for; None means no single one, or execution.
        says: A sentence for readers.
        origin: Where the rule stands, such as `operations.toml, rule 3`.
    """

    work: str | None
    artefact: str | None
    symbols: tuple[str, ...]
    modules: tuple[str, ...]
    under: tuple[str, ...]
    says: str
    origin: str
    step: str | None = None


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
        UsageError: If the text cannot be read or a rule is refused. The message has `source`, index
            and reason.
    """
    return rules_of(read_document(text, source), source)


def rules_of(document: Mapping[str, Any], source: str) -> Rules:
    """Rules of an `operations.toml` that was read already, as `run.json` keeps it.

    Raises:
        UsageError: As `parse_rules`.
    """
    facts = validated(FileFacts, document, source)
    rules = [_rule(entry, f"{source}, rule {at}") for at, entry in enumerate(facts.rules, start=1)]
    return combined(Rules(tuple(rules), facts.outermost, facts.families))


def combined(*parts: Rules) -> Rules:
    """All rules in this order, each checked against the outermost frames of all.

    Raises:
        UsageError: If a rule rests on a frame that another part says is outermost.
    """
    outermost = tuple(dict.fromkeys(name for part in parts for name in part.outermost))
    rules = tuple(rule for part in parts for rule in part.rules)
    for rule in rules:
        _check_outermost(rule, outermost)
    return Rules(rules, outermost, tuple(glob for part in parts for glob in part.families))


@cache
def shared_rules() -> Rules:
    """Rules for what all engines stand on: kernel, libraries, our own driver."""
    text = files("assay.analysis.work").joinpath(SHARED).read_text(encoding="utf-8")
    return parse_rules(text, SHARED)


def _rule(entry: dict[str, Any], origin: str) -> Rule:
    facts = validated(RuleFacts, entry, origin)
    if (facts.work is None) == (facts.artefact is None):
        raise UsageError(f"{origin}: write either work or artefact.")
    if facts.work is not None and facts.work not in (*WORDS, AS_ITS_CALLER):
        hint = suggestion(facts.work, [*WORDS, AS_ITS_CALLER])
        raise UsageError(f"{origin}: work {facts.work!r} is no known word; {hint}")
    _check_step(facts, origin)
    if not facts.symbols and not facts.under:
        raise UsageError(
            f"{origin}: a file alone says nothing of what its code does: name symbols, or callers"
            " with under."
        )
    if any(map(is_any, facts.symbols)) and not facts.under:
        raise UsageError(
            f"{origin}: it would match every function: name symbols, or callers with under."
        )
    if any(map(is_any, facts.under)):
        raise UsageError(f"{origin}: every function has some caller: name callers in under.")
    return Rule(**facts.model_dump(), origin=origin)


def _check_step(facts: RuleFacts, origin: str) -> None:
    if facts.step is None:
        return
    if facts.step not in STEPS:
        hint = suggestion(facts.step, list(STEPS))
        raise UsageError(f"{origin}: step {facts.step!r} is no known one; {hint}")
    if facts.work != PLANNING:
        raise UsageError(f"{origin}: only work {PLANNING!r} has a step.")


def _check_outermost(rule: Rule, outermost: tuple[str, ...]) -> None:
    """Refuses a rule that names or covers a frame in which all of the engine's work is done.

    One that passes a sample on says nothing of it.
    """
    if rule.work == AS_ITS_CALLER:
        return
    globs = [glob for glob in (*rule.symbols, *rule.under) if not is_any(glob)]
    matches = pattern(globs).fullmatch
    for name in outermost:
        if matches(name):
            raise UsageError(
                f"{rule.origin}: it rests on {name}, which is outermost of all that the engine"
                " does: name functions that do one thing."
            )
