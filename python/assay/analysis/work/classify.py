"""Finds the rule that gives each node of a call stack tree its kind of work.

A verdict depends only on a node's frame and on its callers. So each node is judged once,
whatever its number of samples: callers before their callees.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from assay.analysis.work.globs import Names, is_any, pattern
from assay.analysis.work.rules import AS_ITS_CALLER, DRIVER, Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# (Index of a rule, bit that callers must have set (0: none), whether the rule defers to the
# caller).
Candidate = tuple[int, int, bool]


@dataclass(frozen=True)
class Places:
    """The stack frames of a profile, by index.

    Attributes:
        names: Function name for the rules; None without a name.
        modules: Name of the file of each frame.
    """

    names: Sequence[str | None]
    modules: Sequence[str]


@dataclass(frozen=True)
class NodeRules:
    """The rule that gives each call stack node its kind of work.

    Attributes:
        rules: Index of the rule; None if no rule matched.
        decided: Index of the frame that matched; None if no frame has a name, or all named
            frames defer to their callers.
    """

    rules: list[int | None]
    decided: list[int | None]


def classify(
    parents: Sequence[int], frames: Sequence[int], places: Places, rules: Sequence[Rule]
) -> NodeRules:
    """Return the rule that gives each node of a call stack tree its kind of work.

    A frame without a name takes the verdict of its caller, as does a frame whose rule defers to
    the caller. For all other frames the first matching rule decides. Code in other files that
    the driver calls is not the driver's work: without a name it stays unclassified.

    Args:
        parents: For each node, the index of its caller's node, which comes first; -1 without a
            caller.
        frames: For each node, the index of its frame.
        places: The frames.
        rules: The rules in their order.
    """
    named = Names(name for name in places.names if name is not None)
    in_module = _in_module(rules)
    candidates = _candidates(named, rules, in_module)
    drivers = {at for at, rule in enumerate(rules) if rule.work == DRIVER}
    bits = _bits(named, rules)
    of_frame = [
        None if name is None else (candidates(name, module), bits.get(name, 0))
        for name, module in zip(places.names, places.modules, strict=True)
    ]
    rules_of_nodes: list[int | None] = []
    decided: list[int | None] = []
    callers: list[int] = []
    for parent, frame in zip(parents, frames, strict=True):
        rule, place, above = None, None, 0
        if parent >= 0:
            rule, place, above = rules_of_nodes[parent], decided[parent], callers[parent]
        about = of_frame[frame]
        if about is None and rule in drivers and rule not in in_module(places.modules[frame]):
            rule, place = None, None
        if about is not None:
            matching, own_bits = about
            chosen = next(
                (candidate for candidate in matching if not candidate[1] or candidate[1] & above),
                None,
            )
            if chosen is None:
                rule, place = None, frame
            elif not chosen[2]:
                rule, place = chosen[0], frame
            above |= own_bits
        rules_of_nodes.append(rule)
        decided.append(place)
        callers.append(above)
    return NodeRules(rules_of_nodes, decided)


def _candidates(
    named: Names, rules: Sequence[Rule], in_module: Callable[[str], set[int]]
) -> Callable[[str, str], tuple[Candidate, ...]]:
    """Return a function that finds the rules for a function's name and file."""
    by_name: dict[str, set[int]] = {}
    of_all: set[int] = set()
    for place, rule in enumerate(rules):
        if not rule.symbols or any(map(is_any, rule.symbols)):
            of_all.add(place)
            continue
        for name in {name for glob in rule.symbols for name in named.matching(glob)}:
            by_name.setdefault(name, set()).add(place)

    def candidates(name: str, module: str) -> tuple[Candidate, ...]:
        wanted = in_module(module)
        places = sorted((by_name.get(name, set()) | of_all) & wanted)
        return tuple(
            (place, 1 << place if rules[place].under else 0, rules[place].work == AS_ITS_CALLER)
            for place in places
        )

    return cache(candidates)


def _in_module(rules: Sequence[Rule]) -> Callable[[str], set[int]]:
    matchers = [pattern(rule.modules).fullmatch if rule.modules else None for rule in rules]

    def in_module(module: str) -> set[int]:
        return {at for at, matches in enumerate(matchers) if matches is None or matches(module)}

    return cache(in_module)


def _bits(named: Names, rules: Sequence[Rule]) -> dict[str, int]:
    """Return for each function name a bit mask of the rules that require it as a caller."""
    bits: dict[str, int] = {}
    for place, rule in enumerate(rules):
        for name in {name for glob in rule.under for name in named.matching(glob)}:
            bits[name] = bits.get(name, 0) | 1 << place
    return bits
