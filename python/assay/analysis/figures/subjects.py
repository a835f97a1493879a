"""Groups a study's runs by engine and settings, over rounds, for tables and charts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.analysis.figures.contract import Measure
from assay.analysis.quantities import by_subject, spread
from assay.analysis.study_runs import ENGINE, SETTING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from assay.analysis.figures.contract import Asked
    from assay.analysis.study_runs import StudyRun
    from assay.record.reader import Run

    # A part of the study, and the name of the level for each factor.
    _Key = tuple[str, tuple[tuple[str, str], ...]]

# Separator between an engine's name and the requested version.
VERSION = "@"
# Levels whose text needs the factor's name to be understood.
SAY_NOTHING = ("on", "off", "true", "false", "True", "False", "none")


@dataclass(frozen=True)
class Subject:
    """Runs of one engine or setting over all rounds, which tables compare with others.

    Attributes:
        name: Name of the subject, which is unique in the figure.
        runs: Runs of the subject by round; at least one.
        levels: Name of the runs' level by factor.
    """

    name: str
    runs: tuple[StudyRun, ...]
    levels: Mapping[str, str]

    @property
    def first(self) -> Run:
        """The record of the first run of this engine or setting."""
        return self.runs[0].run

    def over_rounds(self, quantity: Callable[[Run], float | None]) -> list[float | None]:
        """Return a quantity of each run, in the order of rounds."""
        return [quantity(run.run) for run in self.runs]


def subjects_of(asked: Asked, without: Sequence[str] = ()) -> tuple[Subject, ...]:
    """Return the engines or settings to compare, each with its runs in all rounds.

    Args:
        asked: The request for the figure.
        without: Factors that do not make subjects, because the figure has an axis for them.
    """
    groups: dict[_Key, list[StudyRun]] = {}
    for run in asked.runs:
        groups.setdefault((run.part, _kept_levels(run, without)), []).append(run)
    parts = {part for part, _ in groups}
    names = {key: subject_name(key[1], runs[0].run) for key, runs in groups.items()}
    names = _with_versions(names, {key: runs[0].run for key, runs in groups.items()})
    made = []
    for (part, levels), runs in groups.items():
        name = names[(part, levels)]
        if len(parts) > 1 and list(names.values()).count(name) > 1:
            name = f"{name} ({part})"
        made.append(Subject(name, tuple(runs), dict(levels)))
    return tuple(made)


def _with_versions(names: Mapping[_Key, str], runs: Mapping[_Key, Run]) -> dict[_Key, str]:
    """Return the engine versions to add to names, for engines that run in several versions."""
    versions: dict[str, set[str]] = {}
    for run in runs.values():
        versions.setdefault(_title(run), set()).add(str(run.facts["engine"].get("version")))
    versioned = {}
    for key, name in names.items():
        title = _title(runs[key])
        version = _with_version(runs[key])
        several = len(versions[title]) > 1 and any(factor == ENGINE for factor, _ in key[1])
        versioned[key] = (
            name.replace(title, version, 1) if several and version not in name else name
        )
    return versioned


def briefly(subjects: tuple[Subject, ...]) -> tuple[Subject, ...]:
    """Return engines or settings with the common first words of their names removed."""
    names = [subject.name.split(" ") for subject in subjects]
    shared = 0
    if len(names) > 1:
        columns = list(zip(*(parts[:-1] for parts in names), strict=False))
        shared = next(
            (at for at, column in enumerate(columns) if len(set(column)) > 1), len(columns)
        )
    return tuple(
        replace(subject, name=" ".join(parts[shared:]))
        for subject, parts in zip(subjects, names, strict=True)
    )


def measure(
    key: str,
    title: str,
    unit: str,
    subjects: Iterable[Subject],
    quantity: Callable[[Run], float | None],
) -> Measure:
    """Return the spread of a quantity over the rounds, for each engine or setting."""
    values = by_subject(
        (subject.name, spread(subject.over_rounds(quantity))) for subject in subjects
    )
    return Measure(key, title, unit, values)


def subject_name(levels: Iterable[tuple[str, str]], run: Run) -> str:
    """Return the name of an engine or setting: the engine's title, then other factor levels.

    If a level of the factor names an engine version, the subject's name always includes the
    version.
    """
    by_factor = dict(levels)
    others = [_level(factor, name) for factor, name in by_factor.items() if factor != ENGINE]
    name = _with_version(run) if VERSION in by_factor.get(ENGINE, "") else _title(run)
    return " ".join([name, *others])


def _title(run: Run) -> str:
    engine = run.facts["engine"]
    return str(engine.get("title") or engine["name"])


def _with_version(run: Run) -> str:
    return f"{_title(run)} {run.facts['engine'].get('version')}"


def _level(factor: str, name: str) -> str:
    """Return a factor level as text, with its factor's name if the level alone is not clear."""
    says_it = name[:1].isalpha() and name not in SAY_NOTHING and not factor.startswith(SETTING)
    return name if says_it else f"{factor.removeprefix(SETTING)}={name}"


def _kept_levels(run: StudyRun, without: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((factor, name) for factor, name in run.levels.items() if factor not in without)
