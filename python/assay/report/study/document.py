"""The document of a study, which `--json` prints and which page and terminal render.

`document.schema.json` beside this file describes it. A value that was not measured is null. A study
that ended early has a document, too, which lists what is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from assay.analysis import quantities
from assay.analysis.answers.durability import level_of, unequal
from assay.analysis.figures.contract import Asked
from assay.analysis.figures.discovery import make
from assay.analysis.figures.queries import answers
from assay.analysis.figures.subjects import subjects_of
from assay.analysis.published.compared import compare, says
from assay.analysis.published.derived import derive
from assay.analysis.published.facts import read_published
from assay.analysis.published.reasons import deciding, reasons
from assay.model.errors import UsageError
from assay.model.verdict import worst
from assay.report.study.conditions import conditions_of
from assay.report.study.figure_entries import article_table, compared_entry, figure_content
from assay.report.study.not_shown import not_shown
from assay.report.study.reading import read_runs
from assay.version import VERSION

if TYPE_CHECKING:
    from assay.analysis.figures.contract import Figure
    from assay.analysis.published.derived import Derived
    from assay.analysis.published.facts import Conditions, FigureFacts, Published
    from assay.analysis.study_runs import StudyRun
    from assay.model.verdict import VerdictWord
    from assay.record.reader import Run
    from assay.record.studies import StudyFigure, StudyRecord
    from assay.record.studies import StudyRun as AskedRun
    from assay.report.documents.study import (
        ArticleConditions,
        ArticleEntry,
        ArticleFigureEntry,
        DerivedEntry,
        DoubtEntry,
        FigureEntry,
        MissingRunEntry,
        NotShownEntry,
        PartEntry,
        RunEntry,
        StudyDocument,
    )

SCHEMA: Final = 1


def study_document(record: StudyRecord) -> StudyDocument:
    """Return the document of a study, from the records of its runs."""
    every, unreadable = read_runs(record)
    runs = tuple(run for run in every if not run.is_ceiling)
    published, why_unpublished = _published(record)
    figures = [_figure(record, figure, every, published) for figure in record.figures]
    checks = [check for run in every for check in run.checks]
    whole = tuple({run.run.id: run for run in runs}.values())
    seconds = [run.seconds for run in record.runs if run.seconds is not None]
    return {
        "schema": SCHEMA,
        "assay_version": VERSION,
        "study": record.directory.name,
        "path": str(record.directory),
        "title": record.title or record.question,
        "question": record.question,
        "status": record.status,
        "status_reason": record.reason,
        "about": dict(record.about),
        "verdict": worst(checks).word,
        "answers": list(_answers(whole)),
        "doubts": _doubts(tuple({run.run.id: run for run in every}.values())),
        "took_seconds": sum(seconds) if seconds else None,
        "parts": [_part(record, name, every) for name in (part.name for part in record.parts)],
        "runs": _runs(record, every),
        "missing": [_missing(run) for run in record.missing()],
        "article": None if published is None else _article(published, whole),
        "figures": figures,
        "derived": [] if published is None else _derived(published, None),
        "not_shown": [
            *not_shown(record, figures, published, unreadable),
            *_unpublished(why_unpublished),
        ],
        "environment": conditions_of(whole),
        "legal": _legal(whole),
        "report": None,
    }


def _legal(runs: tuple[StudyRun, ...]) -> list[str]:
    """Return the legal notices that the workloads of a study require."""
    notices = {run.run.facts["workload"].get("legal") for run in runs}
    return sorted(str(notice) for notice in notices if notice)


def _published(record: StudyRecord) -> tuple[Published | None, str | None]:
    """Return the values that an article published, or the reason why its file cannot be read."""
    if record.published is None:
        return None, None
    try:
        return read_published(record.published), None
    except UsageError as error:
        return None, str(error)


def _unpublished(why: str | None) -> list[NotShownEntry]:
    return [{"what": "the article's figures", "why": why}] if why else []


def _answers(runs: tuple[StudyRun, ...]) -> tuple[str, ...]:
    if not runs:
        return ("The study has no runs, so there are no answers to compare.",)
    sentences = answers.says(subjects_of(Asked("answers", "answers", "", runs)))
    differ = unequal(level_of(run.run.facts) for run in runs)
    if differ is None:
        return sentences
    return (*sentences, f"Durability differs between runs: {differ}.")


def _doubts(runs: tuple[StudyRun, ...]) -> list[DoubtEntry]:
    """Return each reason why runs are not valid with these runs, invalid ones first."""
    runs_by_doubt: dict[tuple[VerdictWord, str, str], list[str]] = {}
    for run in runs:
        for check in run.checks:
            if check.verdict:
                key = (check.verdict.word, check.check, check.reason)
                runs_by_doubt.setdefault(key, []).append(run.run.id)
    ordered = sorted(runs_by_doubt.items(), key=lambda doubt: doubt[0][0] != "invalid")
    return [
        {"verdict": verdict, "check": name, "reason": reason, "runs": ids}
        for (verdict, name, reason), ids in ordered
    ]


def _part(record: StudyRecord, name: str, runs: tuple[StudyRun, ...]) -> PartEntry:
    part = record.part(name)
    return {
        "name": part.name,
        "about": part.about,
        "repetitions": part.repetitions,
        "variants": [
            {
                "name": variant.name,
                "levels": dict(variant.levels),
                "request": dict(variant.request),
                "runs": sum(
                    run.part == part.name and run.variant == variant.name for run in record.complete
                ),
            }
            for variant in part.variants
        ],
        "runs": sum(run.part == part.name for run in runs),
    }


def _runs(record: StudyRecord, runs: tuple[StudyRun, ...]) -> list[RunEntry]:
    """Return the runs that completed and can be read."""
    asked = {(run.part, run.path.name): run for run in record.complete if run.path is not None}
    return [_run(run, asked[run.part, run.run.dir.name]) for run in runs]


def _run(run: StudyRun, asked: AskedRun) -> RunEntry:
    return {
        "part": run.part,
        "variant": asked.variant,
        "levels": dict(run.levels),
        "round": run.round,
        "run": run.run.id,
        "engine": None if run.is_ceiling else _engine(run.run),
        "verdict": worst(run.checks).word,
        "seconds": asked.seconds,
    }


def _engine(run: Run) -> str:
    engine = run.facts["engine"]
    return f"{engine.get('title', engine['name'])} {engine['version']}"


def _missing(run: AskedRun) -> MissingRunEntry:
    return {
        "part": run.part,
        "variant": run.variant,
        "levels": dict(run.levels),
        "round": run.round,
        "run": None if run.path is None else run.path.name,
        "status": run.status,
        "reason": run.reason,
        "seconds": run.seconds,
    }


def _article(published: Published, runs: tuple[StudyRun, ...]) -> ArticleEntry:
    article = published.article
    return {
        "title": article.title,
        "series": article.series,
        "about": article.about,
        "author": article.author,
        "date": article.date,
        "url": article.url,
        "words": article.citation,
        "conditions": _conditions(published.conditions),
        "differs": [reason.text for reason in reasons(published.conditions, runs)],
    }


def _conditions(conditions: Conditions) -> ArticleConditions:
    return {
        "engine": conditions.engine,
        "engine_title": conditions.engine_title,
        "workload": conditions.workload,
        "scale": conditions.scale,
        "streams": conditions.streams,
        "cpu": conditions.cpu,
        "cores": conditions.cores,
        "memory_bytes": conditions.memory_bytes,
        "state": conditions.state,
        "about": list(conditions.about),
    }


def _figure(
    record: StudyRecord, asked: StudyFigure, runs: tuple[StudyRun, ...], published: Published | None
) -> FigureEntry:
    of_parts = tuple(run for run in runs if run.part in asked.parts)
    mine = tuple(run for run in of_parts if not run.is_ceiling)
    ceilings = tuple(run for run in of_parts if run.is_ceiling)
    title = asked.title or asked.name.replace("_", " ")
    figure = make(Asked(asked.name, asked.kind, title, mine, asked.options, ceilings))
    facts = None if published is None else published.figure(asked.name)
    content = figure_content(figure)
    return {
        "name": content["name"],
        "kind": content["kind"],
        "title": content["title"],
        "parts": list(asked.parts),
        "says": content["says"],
        "subjects": content["subjects"],
        "measures": content["measures"],
        "tables": content["tables"],
        "charts": content["charts"],
        "notes": content["notes"],
        "missing": content["missing"] if of_parts else [_not_made(record, asked)],
        "article": (
            None
            if facts is None or published is None
            else _article_figure(figure, facts, published, mine)
        ),
    }


def _not_made(record: StudyRecord, asked: StudyFigure) -> str:
    """Return why a result of the study has no runs."""
    part_names = {part.name for part in record.parts}
    if not part_names & set(asked.parts):
        left_out = [
            f"{part}: {record.without[part]}" for part in asked.parts if part in record.without
        ]
        without = f" ({'; '.join(left_out)})" if left_out else ""
        return f"the study was carried out without the part that the figure needs{without}"
    reasons = dict.fromkeys(
        run.reason or run.status for run in record.missing() if run.part in asked.parts
    )
    return f"none of its runs was made: {'; '.join(reasons)}"


def _article_figure(
    figure: Figure, facts: FigureFacts, published: Published, runs: tuple[StudyRun, ...]
) -> ArticleFigureEntry:
    rows = compare(figure, facts)
    also = deciding(figure.kind, published.conditions, runs) if runs else None
    return {
        "section": facts.section,
        "says": facts.says,
        "compared": [compared_entry(row) for row in rows],
        "differs": list(says(rows, figure)),
        "tables": [article_table(table) for table in facts.tables],
        "derived": _derived(published, facts.name),
        "inputs": sorted(_inputs(published, facts.name)),
        "reasons": [*facts.reasons, *([also] if also else [])],
    }


def _inputs(published: Published, figure: str) -> set[str]:
    """Return the keys of published values from which the author derived others."""
    given = [
        reference
        for facts in published.derived
        for value in facts.inputs.values()
        for reference in (value if isinstance(value, tuple) else (value,))
    ]
    lead = f"{figure}."
    return {
        reference.removeprefix(lead)
        for reference in given
        if isinstance(reference, str) and lead in reference
    }


def _derived(published: Published, figure: str | None) -> list[DerivedEntry]:
    return [_derived_entry(derive(published, facts)) for facts in published.of_figure(figure)]


def _derived_entry(derived: Derived) -> DerivedEntry:
    return {
        "name": derived.facts.name,
        "analysis": derived.facts.analysis,
        "unit": derived.facts.unit,
        "article": derived.facts.value,
        "printed": derived.facts.printed
        or quantities.text(derived.facts.value, derived.facts.unit),
        "value": derived.value,
        "agrees": derived.agrees,
    }
