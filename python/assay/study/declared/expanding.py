"""Expands a study file to its runs, with replacements from the command line."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from assay.analysis.answers.durability import unequal
from assay.engines.discovery import find_engine
from assay.model.errors import UsageError
from assay.model.language import SQL
from assay.record.layout import KIND_RUN
from assay.record.studies import StudyFigure
from assay.running.asked.options import RunOptions
from assay.running.asked.request import RunRequest
from assay.running.asked.understanding import ENGINE_DEFAULTS, request_of
from assay.study.declared.ceilings import ceiling_part
from assay.study.declared.facts import QuickPart, budget_s, run_keys
from assay.study.declared.levels import (
    WITHOUT,
    Combination,
    NamedLevel,
    combinations,
    each_technique,
    has_each,
    is_excluded,
    level_of,
    merged,
)
from assay.study.declared.permission import forbidden, with_permission
from assay.study.declared.reading import listed
from assay.study.variants import Part, Study, Variant

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from assay.study.declared.facts import Factors, PartFacts, StudyFacts
    from assay.study.declared.reading import DeclaredStudy

ENGINE, WORKLOAD, SEED, DURABILITY = "engine", "workload", "seed", "durability"
# Keys that some runs cannot use; at the head of the file, at least one run must use them.
OF_SOME_RUNS = ("streams", "refresh", "refresh_batches", "rate", "time", "warmup", "retries")
VARIANTS_MAX = 2
RUNS_MAX = 10_000


@dataclass(frozen=True)
class Wanted:
    """Command-line options that replace parts of a study file.

    Attributes: quick: Whether the short form of the study is requested. engines: Engines to use
    instead of the study's; empty means those of the file. workload: Workload to use instead of the
    study's workload. allow_host_changes: Whether runs may change settings that affect other users
    of the host.
    """

    quick: bool = False
    engines: tuple[str, ...] = ()
    workload: str | None = None
    allow_host_changes: bool = False


@dataclass(frozen=True)
class Expanded:
    """A study with all its runs, ready to execute.

    Attributes:
        budget_s: Time limit from the file; None means no limit.
        without: Parts that are omitted, with the reason for each.
    """

    study: Study
    budget_s: float | None
    without: Mapping[str, str]


def expanded(declared: DeclaredStudy, wanted: Wanted) -> Expanded:
    """Return a study with all its runs.

    Raises:
        UsageError: If runs are not possible, or if no run is left. The error message lists every
            such run.
    """
    facts = declared.facts
    without = _without(facts, wanted)
    there = {name: part for name, part in facts.part.items() if name not in without}
    _refuse_too_many(declared, there)
    expansions = {
        name: _Expansion(declared, name, part, wanted)
        for name, part in there.items()
        if part.kind == KIND_RUN
    }
    parts = [
        expansions[name].part()
        if name in expansions
        else ceiling_part(name, part, facts.seed, quick=wanted.quick)
        for name, part in there.items()
    ]
    problems = [
        problem for expansion in expansions.values() for problem in expansion.problem_texts()
    ]
    if not problems and not without:
        problems = _idle(facts, list(expansions.values()))
    problems = problems or _unequal(facts, [part for part in parts if part.name in expansions])
    if problems:
        raise UsageError(listed([declared.problem(problem) for problem in problems]))
    if not parts:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in without.items())
        raise UsageError(f"the study {declared.name} has no runs left to make ({reasons})")
    names = [part.name for part in parts]
    quick = facts.quick if wanted.quick else None
    study = Study(
        declared.question,
        tuple(parts),
        (quick.seed if quick and SEED in quick.model_fields_set else facts.seed),
        facts.title,
        _figures(facts, names),
        without,
    )
    budget = quick.budget if quick and quick.budget else facts.budget
    return Expanded(study, budget_s(budget), without)


def _refuse_too_many(declared: DeclaredStudy, parts: Mapping[str, PartFacts]) -> None:
    """Refuse a study section with too many combinations, before they are listed."""
    for name, part in parts.items():
        combinations = prod(max(1, len(levels)) for levels in part.factor.values())
        runs = combinations * (part.repetitions or declared.facts.repetitions)
        if runs > RUNS_MAX:
            raise UsageError(
                declared.problem(f"part.{name}: {runs:,} runs; a part has at most {RUNS_MAX:,}")
            )


def _without(facts: StudyFacts, wanted: Wanted) -> dict[str, str]:
    """Return the sections of a study that are left out, with the reason for each."""
    reasons = {}
    for name, part in facts.part.items():
        own = part.engine
        if wanted.quick and part.quick is False:
            reasons[name] = "--quick leaves it out"
        elif (
            wanted.engines
            and own is not None
            and _product(own) not in map(_product, wanted.engines)
        ):
            reasons[name] = f"it is of {own}, which --engine does not name"
        elif not wanted.allow_host_changes and (reason := forbidden(facts, part)):
            reasons[name] = reason
    return reasons


def _figures(facts: StudyFacts, parts: Sequence[str]) -> tuple[StudyFigure, ...]:
    """Return the results to make, each with the study sections that exist for it."""
    figures = []
    for figure in facts.figure:
        asked = figure.of(list(facts.part))
        there = tuple(part for part in asked if part in parts)
        figures.append(
            StudyFigure(figure.name, there or asked, figure.kind, figure.title, figure.options)
        )
    return tuple(figures)


class _Expansion:
    """Expands one section of a study to requests of runs."""

    def __init__(
        self, declared: DeclaredStudy, name: str, facts: PartFacts, wanted: Wanted
    ) -> None:
        self._folder = declared.folder
        self._study = declared.facts
        self._name = name
        self._facts = facts
        self._wanted = wanted
        self._quick = facts.quick if wanted.quick and isinstance(facts.quick, QuickPart) else None
        self._own = {**run_keys(facts), **(run_keys(self._quick) if self._quick else {})}
        self.problems: list[tuple[str, str]] = []
        self.asked: list[tuple[RunOptions, Collection[str]]] = []

    def part(self) -> Part:
        """Return the expanded section of the study; `problems` lists what is wrong."""
        variants = []
        defaults = self._defaults()
        factors = self._factors(defaults)
        for combination in self._combinations(factors, defaults):
            keys = merged(defaults, combination.keys)
            if is_excluded(combination.levels, keys, self._facts.exclude):
                continue
            variant = self._variant(combination, keys)
            if variant is not None:
                variants.append(variant)
        if not variants and not self.problems:
            self.problems.append(("", "exclude leaves no run of it"))
        expects = () if self._facts.expects is None else tuple(self._facts.expects.plan)
        return Part(self._name, tuple(variants), self._repetitions(), self._facts.about, expects)

    def _combinations(
        self, factors: Mapping[str, list[NamedLevel]], defaults: Mapping[str, Any]
    ) -> Iterator[Combination]:
        """Yield all combinations of the factors' levels."""
        if not has_each(factors.get(WITHOUT, [])):
            yield from combinations(factors)
            return
        others = {factor: levels for factor, levels in factors.items() if factor != WITHOUT}
        for combination in combinations(others):
            engine = _product(
                str(merged(defaults, combination.keys).get(ENGINE, ENGINE_DEFAULTS[SQL]))
            )
            try:
                techniques = find_engine(engine).techniques().techniques
            except UsageError as error:
                self.problems.append((combination.name, str(error)))
                continue
            if not techniques:
                self.problems.append(
                    (combination.name, f"{engine} names no technique to be switched off")
                )
            for level in each_technique(techniques):
                yield combination.beside(WITHOUT, level)

    def problem_texts(self) -> list[str]:
        """Return each problem once, with the variants that have it."""
        of: dict[str, list[str]] = {}
        for variant, text in self.problems:
            of.setdefault(text, []).append(variant)
        where = f"part.{self._name}"
        return [
            f"{where} ({named(variants)}): {text}" if any(variants) else f"{where}: {text}"
            for text, variants in of.items()
        ]

    def _defaults(self) -> dict[str, Any]:
        """Return the option keys that apply before factor levels: the study's and the section's."""
        study, quick = self._study, self._wanted.quick and self._study.quick
        keys = merged(
            self._replaced(run_keys(study)),
            run_keys(self._facts),
            run_keys(quick) if quick else {},
            run_keys(self._quick) if self._quick else {},
        )
        return with_permission(keys, allowed=self._wanted.allow_host_changes)

    def _replaced(self, head: Mapping[str, Any]) -> dict[str, Any]:
        """Return the study's common option keys with replacements from the command line."""
        keys = dict(head)
        if self._wanted.workload is not None and WORKLOAD not in self._own:
            keys[WORKLOAD] = self._wanted.workload
        if self._wanted.engines:
            keys.pop(ENGINE, None)
        return keys

    def _factors(self, defaults: Mapping[str, Any]) -> dict[str, list[NamedLevel]]:
        factors: Factors = {**self._facts.factor, **(self._quick.factor if self._quick else {})}
        levels = {
            factor: [level_of(factor, value) for value in values]
            for factor, values in factors.items()
        }
        engines = self._wanted.engines
        if engines and ENGINE in levels:
            levels[ENGINE] = _engines(levels[ENGINE], engines)
        elif engines and not _sets(levels.values(), ENGINE) and ENGINE not in defaults:
            levels = {
                ENGINE: [NamedLevel(engine, {ENGINE: engine}) for engine in engines],
                **levels,
            }
        if self._wanted.workload is not None and WORKLOAD in levels:
            name = self._wanted.workload
            levels[WORKLOAD] = [NamedLevel(name, {WORKLOAD: name})]
        return levels

    def _variant(self, combination: Combination, keys: Mapping[str, Any]) -> Variant | None:
        """Return a variant whose run is possible; otherwise None, and record the problem."""
        name = combination.name
        given = [*self._own, *combination.keys]
        # A workload on the command line is relative to the current directory.
        folder = self._folder
        if keys.get(WORKLOAD) == self._wanted.workload is not None:
            keys = {**keys, WORKLOAD: _absolute(str(keys[WORKLOAD]))}
        try:
            options = RunOptions.model_validate(dict(keys))
            request = request_of(options, given, folder)
        except ValidationError as error:
            for wrong in error.errors():
                key = ".".join(str(key) for key in wrong["loc"])
                self.problems.append((name, f"{key}: {wrong['msg']}"))
            return None
        except UsageError as error:
            self.problems.append((name, str(error)))
            return None
        self.asked.append((options, given))
        return Variant(name or request.engine, request, combination.levels)

    def _repetitions(self) -> int:
        quick = self._study.quick if self._wanted.quick else None
        repetitions = [
            self._quick.repetitions if self._quick else None,
            quick.repetitions if quick else None,
            self._facts.repetitions,
        ]
        return next((count for count in repetitions if count is not None), self._study.repetitions)

    def takes(self, key: str) -> str | None:
        """Return why no run of the study section can use a key; None if one can."""
        refusal = ""
        for options, given in self.asked:
            try:
                request_of(options, [*given, key], self._folder)
            except UsageError as error:
                refusal = str(error)
            else:
                return None
        return refusal


def _idle(facts: StudyFacts, parts: Sequence[_Expansion]) -> list[str]:
    """Return keys at the head of a study file that no run can use."""
    problems = []
    for key in OF_SOME_RUNS:
        if key in facts.model_fields_set:
            refusals = [part.takes(key) for part in parts]
            if all(refusal is not None for refusal in refusals):
                problems.append(f"{key} does nothing in any part: {refusals[0]}")
    return problems


def _unequal(facts: StudyFacts, parts: Sequence[Part]) -> list[str]:
    """Return the study sections whose runs are compared although their durability differs."""
    if facts.unequal_durability:
        return []
    problems = []
    for part in parts:
        requests = (variant.request for variant in part.variants)
        differ = unequal(
            request.durability for request in requests if isinstance(request, RunRequest)
        )
        if differ is not None and DURABILITY not in facts.part[part.name].factor:
            problems.append(
                f"part.{part.name}: durability differs ({differ}), and a commit that survives less"
                " costs less: make it a factor, say durability at the head, or unequal_durability ="
                " true"
            )
    return problems


def _engines(levels: Sequence[NamedLevel], wanted: Sequence[str]) -> list[NamedLevel]:
    """Return factor levels for the requested engines."""
    named_levels: list[NamedLevel] = []
    for engine in wanted:
        own = [
            level
            for level in levels
            if engine in {level.name, level.keys.get(ENGINE), _product(str(level.keys.get(ENGINE)))}
        ]
        named_levels += own or [NamedLevel(engine, {ENGINE: engine})]
    return named_levels


def _sets(factors: Iterable[Sequence[NamedLevel]], key: str) -> bool:
    return any(key in level.keys for levels in factors for level in levels)


def _product(engine: str) -> str:
    """Return the name of an engine without its version."""
    return engine.partition("@")[0]


def _absolute(workload: str) -> str:
    return str(Path(workload).expanduser().absolute()) if "/" in workload else workload


def named(variants: Sequence[str]) -> str:
    """Return the names of variants, shortened if there are many."""
    shown = "; ".join(variants[:VARIANTS_MAX])
    more = len(variants) - VARIANTS_MAX
    return f"{shown}; and {more} more" if more > 0 else shown
