"""`assay explain`: what the time of a run went into, and all that is known of one operation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from assay.analysis.answers.durability import level_of, unequal
from assay.cli.explain_plans import differences, say_differences
from assay.cli.options import AsJson, RunsDir, WhichRun
from assay.cli.output import complain, console, say, say_json
from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.analysis.profile.profile import Profile
    from assay.analysis.work.rules import Rules
    from assay.record.reader import Run
    from assay.report.documents.profile import UnclassifiedRow
    from assay.report.documents.profile_difference import ProfileDifference

STYLES = ["table", "article"]
Against = Annotated[
    str | None, typer.Option(help="Another run: what changed from it to this one.", metavar="RUN")
]
UnequalDurability = Annotated[
    bool,
    typer.Option(
        "--unequal-durability",
        help="With --against: compare although commits survive less in one of the runs.",
    ),
]
# Parts of the document that explain a run.
WHOLE = (
    *("where", "operations", "findings", "plans", "plan_work", "plan_capture"),
    *("engine_counters", "storage"),
)
# What the first would change is not in what the others print.
NOT_WITH = {
    "--style article": ("--open-families", "--unclassified", "--against", "--json"),
    "--open-families": ("--unclassified", "--against", "--json"),
    "--unclassified": ("--against",),
}


def explain(
    which: WhichRun = "latest",
    *,
    operation: Annotated[
        str | None, typer.Option(help="This operation only.", metavar="NAME")
    ] = None,
    against: Against = None,
    unequal_durability: UnequalDurability = False,
    operations: Annotated[
        Path | None,
        typer.Option(help="Rules of your own, which come before the engine's.", metavar="FILE"),
    ] = None,
    unclassified: Annotated[
        bool, typer.Option("--unclassified", help="Print the rules that are missing, as TOML.")
    ] = False,
    open_families: Annotated[
        bool, typer.Option("--open-families", help="Show the functions of each template, too.")
    ] = False,
    all_symbols: Annotated[
        bool, typer.Option("--all", help="Show all symbols, not only the first.")
    ] = False,
    style: Annotated[
        str, typer.Option(help="'table', or 'article': Markdown that says what each one does.")
    ] = "table",
    html: Annotated[
        Path | None,
        typer.Option(help="With --against: write a differential flame graph.", metavar="FILE"),
    ] = None,
    runs: RunsDir = None,
    as_json: AsJson = False,
) -> None:
    """Explains a run: where its time went, why, what its plans do, what its CPU time is spent on.

    CPU samples are told where the run took some (assay run --profile).

    \b
    Examples:
      assay explain                          the latest run, whole
      assay explain latest --operation q09   one operation, with its plan
      assay explain latest --against 4c193c  what changed since then
      assay explain latest --against 4c193c --operation q09   plans, step by step
      assay explain latest --all             all kinds of work, all functions
      assay explain latest --against 4c193c --html difference.html
      assay explain latest --unclassified > my.toml
      assay explain latest --style article   as an article prints it
    """
    from assay.record.places import runs_dir
    from assay.record.reader import find_workload_run

    shown = {"all_symbols": all_symbols, "open_families": open_families}
    _refuse(style, against, html)
    _refuse_together(style, against, shown, unclassified=unclassified, as_json=as_json)
    place, run = runs_dir(runs), find_workload_run(which, runs_dir(runs))
    rules = _rules(operations)
    if against is not None:
        pair = run, find_workload_run(against, place)
        _check_durability(pair, allowed=unequal_durability, as_json=as_json)
        _against(pair, rules, operation, html, shown, as_json=as_json)
    elif unclassified:
        _unclassified(run, _sampled(run, rules, operation), operation, shown, as_json=as_json)
    elif style != STYLES[0]:
        _article(run, _sampled(run, rules, operation), operation, shown)
    elif operation is not None:
        _operation(run, rules, operation, shown, as_json=as_json)
    else:
        _whole(run, rules, shown, as_json=as_json)


def _refuse(style: str, against: str | None, html: Path | None) -> None:
    if style not in STYLES:
        raise UsageError(f"no style {style!r}: {suggestion(style, STYLES)}")
    if html is not None and against is None:
        raise UsageError(
            "--html draws a difference and needs --against RUN; the flame graph of one run is in"
            " its report: assay report latest"
        )


def _refuse_together(
    style: str, against: str | None, shown: dict[str, bool], *, unclassified: bool, as_json: bool
) -> None:
    """Refuses options of which one would have no effect on what another prints."""
    asked = {
        "--style article": style != STYLES[0],
        "--open-families": shown["open_families"],
        "--unclassified": unclassified,
        "--against": against is not None,
        "--json": as_json,
    }
    for option, others in NOT_WITH.items():
        for other in others:
            if asked[option] and asked[other]:
                raise UsageError(f"{option} has no effect with {other}: leave one of them away")


def _rules(path: Path | None) -> Rules | None:
    from assay.analysis.work.rules import parse_rules

    if path is None:
        return None
    try:
        return parse_rules(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the rules in {path}: {error}") from error


def _profile(
    run: Run, rules: Rules | None, operation: str | None, *, is_needed: bool
) -> Profile | None:
    """The CPU samples of a run; None if there are none and they are not needed.

    Raises:
        UsageError: If they are needed, or the operation is not known.
    """
    from assay.analysis.profile.samples import read_profile
    from assay.report.words.method import no_profile

    profile = read_profile(run, rules)
    if profile is not None:
        _check_operation(profile, operation)
    elif is_needed:
        raise UsageError(f"run {run.id} has no CPU samples to explain: {no_profile(run)}")
    elif operation is not None:
        _planned(run, operation)
    return profile


def _sampled(run: Run, rules: Rules | None, operation: str | None) -> Profile:
    """The CPU samples of a run, without which there is nothing to tell."""
    profile = _profile(run, rules, operation, is_needed=True)
    assert profile is not None  # noqa: S101 - it raises where there are none
    return profile


def _planned(run: Run, operation: str) -> None:
    """Raises `UsageError` for an operation of a run that has plans of others only."""
    from assay.report.sections.plans import captured_of

    names = list(captured_of(run).plans)
    if names and operation not in names:
        raise UsageError(f"no plan of an operation {operation!r}: {suggestion(operation, names)}")


def _check_operation(profile: Profile, operation: str | None) -> None:
    why_not = _why_mixed(profile)
    if operation is not None and why_not is not None:
        raise UsageError(f"{why_not}, or leave --operation away")
    names = profile.passes["operation"].unique(maintain_order=True).to_list()
    if operation is not None and operation not in names:
        raise UsageError(f"no operation {operation!r} was measured: {suggestion(operation, names)}")


def _operation(
    run: Run, rules: Rules | None, operation: str, shown: dict[str, bool], *, as_json: bool
) -> None:
    """All that is known of one operation; its CPU samples only where there are some."""
    from assay.analysis.profile.samples import read_profile
    from assay.report.document import document
    from assay.report.sections.operation import operation_of
    from assay.report.sections.profile import SYMBOLS_MAX, section
    from assay.report.terminal.operation import operation_lines
    from assay.report.terminal.summary import width_of
    from assay.report.words.method import no_profile

    profile, report = read_profile(run, rules), document(run, run.dir)
    names = [row["name"] for row in report["operations"]]
    if operation not in names:
        raise UsageError(f"no operation {operation!r} was measured: {suggestion(operation, names)}")
    why_not = no_profile(run) if profile is None else _why_mixed(profile)
    most = None if shown["all_symbols"] else SYMBOLS_MAX
    sampled = None if profile is None or why_not else section(run, profile, operation, most)
    if as_json:
        say_json({"run": run.id, **operation_of(report, operation), "profile": sampled})
        return
    width = width_of(console(stderr=False))
    _print(operation_lines(report, operation, sampled or why_not or "", width, **shown))


def _why_mixed(profile: Profile) -> str | None:
    """Why samples are of no operation; None where they are."""
    if profile.sampling.told_apart:
        return None
    return (
        "the samples are of several sessions of an engine of one process, whose threads do not tell"
        " them apart by operation: measure with --clients 1"
    )


def _whole(run: Run, rules: Rules | None, shown: dict[str, bool], *, as_json: bool) -> None:
    """All that is known of a run; its CPU samples only where there are some."""
    from assay.report.document import document
    from assay.report.sections.profile import SYMBOLS_MAX, section
    from assay.report.terminal.run import run_lines
    from assay.report.terminal.summary import width_of
    from assay.report.words.method import no_profile

    needed = shown["open_families"] or rules is not None
    profile, report = _profile(run, rules, None, is_needed=needed), document(run, run.dir)
    most = None if shown["all_symbols"] else SYMBOLS_MAX
    sampled = None if profile is None else section(run, profile, None, most)
    if as_json:
        parts: Mapping[str, object] = report
        say_json({"run": run.id, **{key: parts[key] for key in WHOLE}, "profile": sampled})
        return
    width = width_of(console(stderr=False))
    _print(run_lines(report, sampled or no_profile(run), width, **shown))


def _article(run: Run, profile: Profile, operation: str | None, shown: dict[str, bool]) -> None:
    from assay.report.build import run_document
    from assay.report.sections.profile import SYMBOLS_MAX, section
    from assay.report.terminal.article import article_lines
    from assay.report.words.run import title

    most = None if shown["all_symbols"] else SYMBOLS_MAX
    sampled = section(run, profile, operation, most)
    _print(article_lines(title(run_document(run)), sampled, all_symbols=shown["all_symbols"]))


def _unclassified(
    run: Run, profile: Profile, operation: str | None, shown: dict[str, bool], *, as_json: bool
) -> None:
    from assay.analysis.profile.samples import unclassified
    from assay.report.words.missing_rules import skeleton_lines

    missing = cast("list[UnclassifiedRow]", unclassified(profile, operation).to_dicts())
    if as_json:
        say_json({"run": run.id, "unclassified": missing})
    else:
        everything, outermost = shown["all_symbols"], profile.rules.outermost
        _print(skeleton_lines(missing, run.id, outermost=outermost, all_symbols=everything))


def _check_durability(runs: tuple[Run, Run], *, allowed: bool, as_json: bool) -> None:
    """Refuses runs of unequal levels of durability; where that was asked for, says so first."""
    ours, theirs = (level_of(run.facts) for run in runs)
    differ = unequal((ours, theirs))
    if differ is None:
        return
    text = f"durability differs: {ours} in {runs[0].id}, {theirs} in {runs[1].id}"
    if not allowed:
        raise UsageError(
            f"{text}: a commit that survives less costs less. Measure one of them again with"
            " --durability, or compare them all the same with --unequal-durability"
        )
    (complain if as_json else say)(text)


def _against(
    runs: tuple[Run, Run],
    rules: Rules | None,
    operation: str | None,
    html: Path | None,
    shown: dict[str, bool],
    *,
    as_json: bool,
) -> None:
    """Tells what changed: between the samples where both runs have them, and between plans."""
    needed = bool(html or rules)
    ours, theirs = ((run, _profile(run, rules, operation, is_needed=needed)) for run in runs)
    samples = None
    if ours[1] is not None and theirs[1] is not None:
        samples = _sampled_difference((ours[0], ours[1]), (theirs[0], theirs[1]), operation, html)
    plans = differences(ours[0], theirs[0], operation)
    if as_json:
        levels = {run.id: level_of(run.facts) for run in runs}
        ids = {"run": ours[0].id, "against": theirs[0].id, "durability": levels}
        page = None if html is None else str(html)
        say_json(ids | {"difference": samples, "plans": plans, "html": page})
        return
    _print(_difference_lines(ours[0], theirs[0], samples, all_symbols=shown["all_symbols"]))
    say_differences(ours[0], theirs[0], plans, operation)
    if html is not None:
        say(f"Page {html}")


def _sampled_difference(
    ours: tuple[Run, Profile],
    theirs: tuple[Run, Profile],
    operation: str | None,
    html: Path | None,
) -> ProfileDifference:
    from assay.analysis.profile.difference import as_long_as
    from assay.report.build import run_document
    from assay.report.page.difference import write_page
    from assay.report.sections.difference import difference

    if _scale(ours[0]) != _scale(theirs[0]):
        theirs = (theirs[0], as_long_as(theirs[1], ours[1], operation))
    changes = difference(ours[1], theirs[1], operation)
    if html is not None:
        documents = (run_document(ours[0]), run_document(theirs[0]))
        write_page(html, documents, (ours[1], theirs[1]), changes)
    return changes


def _difference_lines(
    ours: Run, theirs: Run, samples: ProfileDifference | None, *, all_symbols: bool
) -> Iterable[str]:
    from assay.report.build import run_document
    from assay.report.terminal.difference import compared_lines, uncompared_lines
    from assay.report.terminal.summary import width_of

    width = width_of(console(stderr=False))
    titles = (run_document(ours), run_document(theirs))
    if samples is None:
        return uncompared_lines(*titles, width)
    return compared_lines(*titles, samples, width, all_symbols=all_symbols)


def _scale(run: Run) -> object:
    return run.facts["request"].get("scale")


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        say(line)
