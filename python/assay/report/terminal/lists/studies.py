"""Terminal output of studies: the question of a study, and its planned runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.model.units import duration_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from assay.report.documents.study_plan import StudyForm, StudyPlan


def plan_lines(plan: StudyPlan) -> Iterator[str]:
    """Yield the lines that `assay studies show` prints."""
    yield plan["title"]
    yield ""
    yield plan["question"]
    (first, form), *others = plan["forms"].items()
    yield ""
    yield from _parts(form)
    if plan["figures"]:
        yield ""
        yield "figures"
        for figure in plan["figures"]:
            yield f"  {figure['name']:<18}{figure['kind']:<14}{figure['title'] or ''}".rstrip()
    yield ""
    yield _total("--quick" if first == "quick" else "in all", form)
    for _, other in others:
        yield _total("--quick", other)
        for part, reason in other["without"].items():
            if part not in form["without"]:
                yield f"  left out: {part}: {reason}"


def _parts(form: StudyForm) -> Iterator[str]:
    for part in form["parts"]:
        times = f"{part['repetitions']} x " if part["repetitions"] > 1 else ""
        yield f"{part['name']}: {times}{len(part['variants'])} runs"
        if part["about"]:
            yield f"  {part['about']}"
        width = max(len(variant["name"]) for variant in part["variants"])
        for variant in part["variants"]:
            yield f"    {variant['name']:<{width}}  {_about(variant['expected_s'])}"
    for name, reason in form["without"].items():
        yield f"left out: {name}: {reason}"


def _total(name: str, form: StudyForm) -> str:
    shared = sum(run["stands_for"] > 1 for run in form["order"])
    budget = "" if form["budget_s"] is None else f", budget {duration_text(form['budget_s'])}"
    twice = f" ({shared} of them for several parts)" if shared else ""
    return f"{name}: {len(form['order'])} runs{twice}, {_about(form['expected_s'])}{budget}"


def _about(seconds: float | None) -> str:
    return "of unknown time" if seconds is None else f"about {duration_text(seconds)}"


def kind_lines(kinds: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the terminal lines of `assay studies figures`: kinds of study results."""
    for kind in kinds:
        yield f"{kind['kind']:<14}{kind['about']}"
        for option, meaning in kind["options"].items():
            yield f"  {option}: {meaning}"
