"""`assay explain`: shows where the time of a run went, and all facts about one operation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from assay.analysis.answers.durability import level_of, unequal
from assay.analysis.operations import operation_table
from assay.analysis.profile.difference import as_long_as
from assay.analysis.profile.samples import read_profile
from assay.analysis.profile.samples import unclassified as unclassified_rows
from assay.analysis.try_.calibration import calibrate
from assay.analysis.work.rules import parse_rules
from assay.model.errors import UsageError, suggestion
from assay.record.outside import refuse_inside_record
from assay.record.places import runs_dir
from assay.record.predictions import read_predictions
from assay.record.reader import damage_reported, find_measured_run
from assay.report.build import run_document
from assay.report.document import document
from assay.report.page.difference import write_page
from assay.report.results.explain import (
    ExplainedDifference,
    ExplainedOperation,
    ExplainedRun,
    ExplainedSamples,
    MissingRules,
)
from assay.report.sections.before_after import before_after
from assay.report.sections.difference import difference
from assay.report.sections.plan_difference import plan_differences
from assay.report.sections.plans import captured_of
from assay.report.sections.profile import SYMBOLS_MAX, section
from assay.report.words.not_measured import no_profile

if TYPE_CHECKING:
    from assay.analysis.profile.profile import Profile
    from assay.analysis.work.rules import Rules
    from assay.record.reader import Run
    from assay.report.documents.profile.profile import UnclassifiedRow
    from assay.report.results.explain import Explanation

TABLE, ARTICLE = "table", "article"
STYLES = [TABLE, ARTICLE]
# Options that exclude each other: the first has no effect on what the others print.
NOT_WITH = {
    "--style article": ("--open-families", "--unclassified", "--against"),
    "--open-families": ("--unclassified", "--against"),
    "--unclassified": ("--against",),
}


def explain(
    run: str = "latest",
    *,
    operation: str | None = None,
    against: str | None = None,
    unequal_durability: bool = False,
    operations: Path | str | None = None,
    unclassified: bool = False,
    open_families: bool = False,
    all_symbols: bool = False,
    style: str = TABLE,
    html: Path | str | None = None,
    runs: Path | str | None = None,
) -> Explanation:
    """Explains a run: where its time went, why, what its plans do and where CPU time is spent.

    Args:
        run: `latest`, an id, the beginning of an id, or a path.
        operation: Restrict to this operation.
        against: An earlier run; the result shows the changes since then.
        unequal_durability: Compare even if commits survive fewer kinds of failure in one of the
            runs.
        operations: File with your own rules, which are applied before the engine's.
        unclassified: Show the functions that no rule classifies.
        open_families: Show the functions of each template. Templates are known only with CPU
            samples.
        all_symbols: Show all functions, not only the first ones.
        style: `table`, or `article` for the CPU samples only.
        html: With `against`: file to write a differential flame graph to.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.

    Returns:
        The explanation of the run. The explanation's `document` is the one that
        `assay explain --json` prints.

    Raises:
        UsageError: If the run has no such operation, has no samples although they are needed, or if
            one option has no effect with another.
        RecordUnreadableError: If no run has this name, or its record is damaged.
    """
    _refuse(style, against, html)
    asked = {
        "--style article": style == ARTICLE,
        "--open-families": open_families,
        "--unclassified": unclassified,
        "--against": against is not None,
    }
    _refuse_together(asked)
    place = runs_dir(runs)
    record = find_measured_run(run, place, or_observed=against is None)
    with damage_reported(record):
        rules = _rules(operations)
        most = None if all_symbols else SYMBOLS_MAX
        if against is not None:
            pair = record, find_measured_run(against, place)
            differ = _unequal_durability(pair, allowed=unequal_durability)
            return _difference(pair, rules, operation, None if html is None else Path(html), differ)
        if unclassified:
            return _missing_rules(record, _sampled(record, rules, operation), operation)
        if style == ARTICLE:
            profile = _sampled(record, rules, operation)
            return ExplainedSamples(run_document(record), section(record, profile, operation, most))
        if operation is not None:
            return _operation(record, rules, operation, most)
        return _whole(record, rules, most, is_needed=open_families or rules is not None)


def _refuse(style: str, against: str | None, html: Path | str | None) -> None:
    if style not in STYLES:
        raise UsageError(f"unknown style {style!r}: {suggestion(style, STYLES)}")
    if html is not None and against is None:
        raise UsageError(
            "--html needs --against RUN, because it draws the difference of two runs. The "
            "flame graph of one run is in its report: assay report latest"
        )
    if html is not None:
        refuse_inside_record(Path(html), "--html")


def _refuse_together(asked: dict[str, bool]) -> None:
    """Refuse options of `assay explain` that have no effect together."""
    for option, others in NOT_WITH.items():
        for other in others:
            if asked[option] and asked[other]:
                raise UsageError(f"{option} has no effect with {other}: remove one of the two")


def _rules(path: Path | str | None) -> Rules | None:
    if path is None:
        return None
    try:
        return parse_rules(Path(path).read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the rules in {path}: {error}") from error


def _profile(
    run: Run, rules: Rules | None, operation: str | None, *, is_needed: bool
) -> Profile | None:
    """Return the CPU samples of a run; None if it has none and needs none.

    Raises:
        UsageError: If samples are needed and missing, or the operation is not known.
    """
    profile = read_profile(run, rules)
    if profile is not None:
        _check_operation(profile, operation)
    elif is_needed:
        raise UsageError(f"the run {run.id} has no CPU samples: {no_profile(run)}")
    elif operation is not None:
        _check_planned(run, operation)
    return profile


def _sampled(run: Run, rules: Rules | None, operation: str | None) -> Profile:
    """Return the CPU samples of a run. Raises `UsageError` if it has none."""
    profile = _profile(run, rules, operation, is_needed=True)
    assert profile is not None  # noqa: S101 - it raises where there are none
    return profile


def _check_planned(run: Run, operation: str) -> None:
    """Raise `UsageError` for an operation without a plan, if other operations have one."""
    names = list(captured_of(run).plans)
    if names and operation not in names:
        raise UsageError(
            f"the run has no plan of an operation {operation!r}: {suggestion(operation, names)}"
        )


def _check_operation(profile: Profile, operation: str | None) -> None:
    why_not = _why_mixed(profile)
    if operation is not None and why_not is not None:
        raise UsageError(f"{why_not}, or remove --operation")
    names = profile.passes["operation"].unique(maintain_order=True).to_list()
    if operation is not None and operation not in names:
        raise UsageError(
            f"the run measured no operation {operation!r}: {suggestion(operation, names)}"
        )


def _why_mixed(profile: Profile) -> str | None:
    """Return why CPU samples belong to no single operation; None if they do."""
    if profile.sampling.told_apart:
        return None
    return (
        "the samples are of several sessions of an engine of one process, whose threads do not tell"
        " them apart by operation: measure with --clients 1"
    )


def _operation(
    run: Run, rules: Rules | None, operation: str, most: int | None
) -> ExplainedOperation:
    """Return the explanation of one operation, with its CPU samples if there are any."""
    profile, report = read_profile(run, rules), document(run, run.dir)
    names = [row["name"] for row in report["operations"]]
    if operation not in names:
        raise UsageError(
            f"the run measured no operation {operation!r}: {suggestion(operation, names)}"
        )
    why_not = no_profile(run) if profile is None else _why_mixed(profile)
    sampled = None if profile is None or why_not else section(run, profile, operation, most)
    return ExplainedOperation(report, operation, sampled, why_not or "")


def _whole(run: Run, rules: Rules | None, most: int | None, *, is_needed: bool) -> ExplainedRun:
    """Return the explanation of a run, with its CPU samples if there are any."""
    profile, report = _profile(run, rules, None, is_needed=is_needed), document(run, run.dir)
    history = calibrate(read_predictions(run.dir.parent))
    sentences = {method: history.sentence(method) for method in history.methods}
    tried = {method: sentence for method, sentence in sentences.items() if sentence is not None}
    if profile is None:
        return ExplainedRun(report, None, no_profile(run), tried)
    return ExplainedRun(report, section(run, profile, None, most), "", tried)


def _missing_rules(run: Run, profile: Profile, operation: str | None) -> MissingRules:
    rows = cast("list[UnclassifiedRow]", unclassified_rows(profile, operation).to_dicts())
    return MissingRules(run.id, rows, profile.rules.outermost)


def _unequal_durability(runs: tuple[Run, Run], *, allowed: bool) -> str | None:
    """Return a sentence on different durability levels; raise an error unless allowed."""
    ours, theirs = (level_of(run.facts) for run in runs)
    if unequal((ours, theirs)) is None:
        return None
    text = f"durability differs: {ours} in {runs[0].id}, {theirs} in {runs[1].id}"
    if not allowed:
        raise UsageError(
            f"{text}: weaker durability makes commits cheaper, so the runs are not comparable. "
            "Repeat one with --durability, or add --unequal-durability to compare them anyway"
        )
    return text


def _difference(
    runs: tuple[Run, Run],
    rules: Rules | None,
    operation: str | None,
    page: Path | None,
    unequal_levels: str | None,
) -> ExplainedDifference:
    """Return the difference of two runs in CPU samples and plans."""
    ours, theirs = runs
    needed = bool(page or rules)
    profiles = tuple(_profile(run, rules, operation, is_needed=needed) for run in runs)
    samples, reports = None, (run_document(ours), run_document(theirs))
    if profiles[0] is not None and profiles[1] is not None:
        pair = profiles[0], profiles[1]
        if _scale(ours) != _scale(theirs):
            pair = pair[0], as_long_as(pair[1], pair[0], operation)
        samples = difference(*pair, operation)
        if page is not None:
            write_page(page, reports, pair, samples)
    return ExplainedDifference(
        *reports,
        operation,
        samples,
        plan_differences(ours, theirs, (_seconds(ours), _seconds(theirs)), operation),
        _no_plans(runs),
        {run.id: level_of(run.facts) for run in runs},
        unequal_levels,
        page,
        before_after(theirs, ours),
    )


def _no_plans(runs: tuple[Run, Run]) -> str | None:
    """Return why plans of two runs are not compared; None if both have some."""
    for run in runs:
        captured = captured_of(run)
        if not captured.plans:
            return f"{run.id} has none: {captured.reason}"
    return None


def _scale(run: Run) -> object:
    return run.facts["request"].get("scale")


def _seconds(run: Run) -> dict[str, float]:
    """Return the time of each operation of a run."""
    if not run.has("events"):
        return {}
    table = operation_table(run.table("events")).drop_nulls("seconds")
    return dict(table.select("operation", "seconds").iter_rows())
