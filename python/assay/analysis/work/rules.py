"""Rules that assign code to kinds of work, and rejection of rules that are too general.

A rule depends on names of functions or of their callers. A rule may not match by file alone, or
by the frames that are outermost in every stack: such a rule would match all samples and explain
none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from assay.analysis.work.globs import Names, is_any
from assay.analysis.work.rule_files import read_document, validated
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

AS_ITS_CALLER = "as its caller"
DRIVER = "driver"
UNCLASSIFIED = "unclassified"
PLANNING = "optimiser/parse"
# Steps before the execution of a statement, in their order.
STEPS = ("parse", "name resolution", "optimise")
# Kinds of work of an engine's code, in standard terms.
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
    """One entry of `[[rules]]` in an `operations.toml`; `Rule` explains the keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    work: str | None = None
    artefact: str | None = Field(default=None, min_length=1)
    symbols: tuple[Glob, ...] = ()
    modules: tuple[Glob, ...] = ()
    under: tuple[Glob, ...] = ()
    step: str | None = None
    says: str = Field(min_length=1)


class FileFacts(BaseModel):
    """The whole content of an `operations.toml`; each rule is parsed separately."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    outermost: tuple[str, ...] = ()
    families: tuple[Glob, ...] = ()
    rules: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Rule:
    """One rule that assigns functions to a kind of work.

    In globs `*` matches any characters; every other character, including `[`, matches only
    itself.

    Attributes:
        work: Kind of work of matching frames; None for artefacts.
        artefact: Reason why matching samples contain no information about the engine; None for
            work.
        symbols: Globs for a function's name without parameters; empty means any named function.
        modules: Globs for the name of its file; empty means any file.
        under: Globs of which one must match the name of some caller; empty means any caller.
        step: The step (one of `STEPS`) of matching frames; None means no single step, or
            execution.
        says: A sentence for readers.
        origin: Location of the rule, such as `operations.toml, rule 3`.
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
    """A list of rules that assign functions to kinds of work; the first match decides.

    Attributes:
        rules: The rules; the first matching rule decides.
        outermost: Names of outermost executor frames, on which no rule may depend.
        families: Globs of functions that are shown as one line.
    """

    rules: tuple[Rule, ...] = ()
    outermost: tuple[str, ...] = ()
    families: tuple[str, ...] = ()


def parse_rules(text: str, source: str) -> Rules:
    """Parse the rules of an `operations.toml`, which assign functions to kinds of work.

    Raises:
        UsageError: If the text cannot be read or a rule is invalid. The message contains
            `source`, the rule's index and the reason.
    """
    return rules_of(read_document(text, source), source)


def rules_of(document: Mapping[str, Any], source: str) -> Rules:
    """Return the rules of a parsed `operations.toml`, in the form stored in `run.json`.

    Raises:
        UsageError: If a rule is invalid, as in `parse_rules`.
    """
    facts = validated(FileFacts, document, source)
    rules = [_rule(entry, f"{source}, rule {at}") for at, entry in enumerate(facts.rules, start=1)]
    return combined(Rules(tuple(rules), facts.outermost, facts.families))


def combined(*parts: Rules) -> Rules:
    """Return several lists of rules as one, checked against all outermost functions.

    Raises:
        UsageError: If a rule depends on a frame that another part declares as outermost.
    """
    outermost = tuple(dict.fromkeys(name for part in parts for name in part.outermost))
    rules = tuple(rule for part in parts for rule in part.rules)
    for rule in rules:
        _check_outermost(rule, outermost)
    return Rules(rules, outermost, tuple(glob for part in parts for glob in part.families))


@cache
def shared_rules() -> Rules:
    """Return the rules for code that all engines share: kernel, libraries and Assay's driver."""
    text = files("assay.analysis.work").joinpath(SHARED).read_text(encoding="utf-8")
    return parse_rules(text, SHARED)


def _rule(entry: dict[str, Any], origin: str) -> Rule:
    facts = validated(RuleFacts, entry, origin)
    if (facts.work is None) == (facts.artefact is None):
        raise UsageError(f"{origin}: the rule needs either work or artefact.")
    if facts.work is not None and facts.work not in (*WORDS, AS_ITS_CALLER):
        hint = suggestion(facts.work, [*WORDS, AS_ITS_CALLER])
        raise UsageError(f"{origin}: unknown kind of work {facts.work!r}; {hint}")
    _check_step(facts, origin)
    if not facts.symbols and not facts.under:
        raise UsageError(
            f"{origin}: a file name alone does not determine the kind of work: name symbols, or "
            "callers with under."
        )
    if any(map(is_any, facts.symbols)) and not facts.under:
        raise UsageError(
            f"{origin}: the rule would match every function: name symbols, or callers with under."
        )
    if any(map(is_any, facts.under)):
        raise UsageError(f"{origin}: under would match every caller: name specific callers.")
    return Rule(**facts.model_dump(), origin=origin)


def _check_step(facts: RuleFacts, origin: str) -> None:
    if facts.step is None:
        return
    if facts.step not in STEPS:
        hint = suggestion(facts.step, list(STEPS))
        raise UsageError(f"{origin}: unknown step {facts.step!r}; {hint}")
    if facts.work != PLANNING:
        raise UsageError(f"{origin}: only the work {PLANNING!r} has steps.")


def _check_outermost(rule: Rule, outermost: tuple[str, ...]) -> None:
    """Raise `UsageError` for a rule that matches a function below which all work is done.

    A rule that defers to the caller is allowed, because it makes no claim about the sample.
    """
    if rule.work == AS_ITS_CALLER:
        return
    names = Names(outermost)
    globs = [glob for glob in (*rule.symbols, *rule.under) if not is_any(glob)]
    for name in chain.from_iterable(map(names.matching, globs)):
        raise UsageError(
            f"{rule.origin}: the rule names {name}, which is the outermost function of all "
            "work: name more specific functions."
        )
