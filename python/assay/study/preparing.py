"""Checks all runs of a study before the first one starts, so that errors appear early.

An engine that cannot be obtained is not an error in the study. The engine's runs fail with the
reason, and the other runs are executed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from assay.engines.contract import EngineError
from assay.model.errors import UsageError
from assay.running.asked.asking import considered
from assay.running.asked.obtaining import check_settings, obtained, with_schema
from assay.running.asked.request import RunRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from assay.running.asked.asked_run import Asked
    from assay.running.asked.obtaining import Obtained
    from assay.running.telling import Teller
    from assay.study.several import RunOne
    from assay.study.variants import PlannedRun, Study, StudyRequest

    Source = tuple[str, str | None, str | None, str | None]


@dataclass(frozen=True)
class Prepared:
    """Results of checking a study's runs before the first one starts.

    Attributes:
        reasons: Reasons why engines cannot be obtained, by engine, version, program directory and
            address.
    """

    reasons: Mapping[Source, str] = field(default_factory=dict)

    def refuses_all(self, runs: Sequence[PlannedRun]) -> bool:
        """Return True if the engines of all these runs cannot be obtained."""
        return bool(self.reasons) and all(
            isinstance(run.request, RunRequest) and _source(run.request) in self.reasons
            for run in runs
        )

    def wrapping(self, run_one: RunOne) -> RunOne:
        """Return a function that executes runs, but not those whose engine is missing."""

        def run(request: StudyRequest, runs: Path, teller: Teller) -> Path:
            if isinstance(request, RunRequest) and (reason := self.reasons.get(_source(request))):
                raise EngineError(reason)
            return run_one(request, runs, teller)

        return run


def considered_all(
    study: Study, wants: Callable[[PlannedRun], bool] = lambda _: True, *, of_file: bool = True
) -> list[Asked]:
    """Check each run of a study once, without obtaining engines.

    Args:
        study: The study.
        wants: Selects the runs to make. Errors in other runs are ignored.
        of_file: Whether the study is from a file; otherwise errors do not name its parts.

    Raises:
        UsageError: If runs have errors. The error message lists all of them by part and variant.
    """
    order = study.order()
    wanted = {
        names for names, _ in _distinct([run for run in order if wants(run)], of_file=of_file)
    }
    asked, problems = [], []
    for names, request in _distinct(order, of_file=of_file):
        try:
            asked.append(considered(request))
        except UsageError as error:
            if names in wanted:
                problems.append((names, str(error)))
        except EngineError:
            # The runs of this engine will fail, each with this reason.
            continue
    _refuse(problems)
    return asked


def prepared(
    runs: Sequence[PlannedRun], asked_runs: Sequence[Asked], teller: Teller, *, of_file: bool = True
) -> Prepared:
    """Obtain the engines of some runs, and have them check the settings.

    Args:
        runs: Runs to make.
        asked_runs: The result of `considered_all`.
        teller: Receives the progress.
        of_file: The argument of `considered_all`.

    Raises:
        UsageError: If an engine refuses settings. The error message lists them by part and variant.
            Also if a query of a running server cannot be rewritten.
    """
    products: dict[Source, Obtained] = {}
    reasons: dict[Source, str] = {}
    problems = []
    for names, request in _distinct(runs, of_file=of_file):
        source = _source(request)
        if source in reasons:
            continue
        try:
            match = next(
                (asked_run for asked_run in asked_runs if asked_run.request == request), None
            )
            asked = match or considered(request)
            if source not in products:
                products[source] = obtained(asked, teller)
            else:
                with_schema(asked)
        except EngineError as error:
            reasons[source] = str(error)
            continue
        product = products[source]
        try:
            check_settings(replace(asked, product=product.product, version=product.version))
        except EngineError as error:
            problems.append((names, str(error)))
    _refuse(problems)
    return Prepared(reasons)


def _distinct(runs: Sequence[PlannedRun], *, of_file: bool) -> Iterator[tuple[str, RunRequest]]:
    """Yield every distinct request of a run, with the name of its study section."""
    seen: list[RunRequest] = []
    for run in runs:
        if isinstance(run.request, RunRequest) and run.request not in seen:
            seen.append(run.request)
            first = run.stands_for[0]
            named = f"part.{first.part} ({first.variant})" if of_file else first.variant
            yield named, run.request


def _source(request: RunRequest) -> Source:
    return request.engine, request.engine_version, request.bin_dir, request.dsn


def _refuse(problems: Sequence[tuple[str, str]]) -> None:
    """Raise `UsageError` for runs with reasons, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for names, reason in problems:
        by_reason.setdefault(reason, []).append(names)
    lines = [
        f"{names[0]}: {reason}" + (f" [{', '.join(names[1:])}: the same]" if names[1:] else "")
        for reason, names in by_reason.items()
    ]
    if len(problems) == 1:
        raise UsageError(lines[0])
    if problems:
        raise UsageError("\n  ".join([f"{len(problems)} runs cannot be made:", *lines]))
