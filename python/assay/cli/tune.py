"""`assay tune`: searches settings of an engine, and recommends one if it is better beyond noise."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from inspect import cleandoc
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.options import Again, AsJson, Budget, RunsDir, Whole, Workload, budget_seconds
from assay.cli.output import complain, console
from assay.cli.run_options import run_keys, with_run_options
from assay.cli.scale_name import SCALE, check_scale_name
from assay.model.errors import RecordUnreadableError, RunFailedError
from assay.running.asked.declaring import Group

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from assay.analysis.tune.search import Trial
    from assay.cli.study_progress import StudyProgress
    from assay.record.studies import StudyRecord
    from assay.running.asked.asking import Asked
    from assay.study.preparing import Prepared
    from assay.study.tuning.planning import Left, Tune
    from assay.study.variants import Part

MADE_BY, BUDGET = "assay tune", "20m"
EXIT_NOTHING = 5
# What runs of a search are where nobody says otherwise: shorter than one that is looked at itself.
SHORT = {"min_time": "3s", "time": "10s", "warmup": "3s", "plans": False}
EXAMPLES = """
\b
Examples:
  assay tune tpch -o q18 --engine postgresql --knob work_mem=4MB..512MB
  assay tune tpch --knob threads=1..4 --knob memory_limit=256MB..1GB
  assay tune tpch --engine postgresql --budget 1h    all knobs that it names
  assay tune tpcb --engine postgresql --clients 8 --knob wal_buffers=1MB..64MB

\b
Exit codes:
  0  a setting is recommended    2  the default failed, or it was stopped
  1  wrong usage: nothing ran    5  no setting is better beyond noise
"""


Knobs = Annotated[
    list[str] | None,
    typer.Option(
        "--knob",
        help="A setting of the engine and between which values it is searched; can be repeated"
        " [default: the knobs that the engine names].",
        metavar="NAME=LOW..HIGH|NAME=a,b,c|NAME",
        rich_help_panel=Group.ASKED,
    ),
]
Objective = Annotated[
    str | None,
    typer.Option(
        help="What is made better: a metric of runs, such as geometric_mean_seconds or"
        " latency_seconds_p99, or an operation [default: seconds of all operations; of a mix,"
        " operations a second].",
        metavar="METRIC",
        rich_help_panel=Group.ASKED,
    ),
]


@with_run_options(defaults=SHORT)
def tune(
    context: typer.Context,
    workload: Workload,
    *,
    knob: Knobs = None,
    objective: Objective = None,
    budget: Budget = BUDGET,
    again: Again = False,
    runs: RunsDir = None,
    whole: Whole = False,
    as_json: AsJson = False,
    **told: Any,  # noqa: ANN401 - options of `assay run`
) -> None:
    """Searches settings of an engine that make a workload faster than its default does.

    Settings are chosen by Optuna and run beside the default, in turns; the best are repeated, and
    the leader is compared with the default in runs that had no part in choosing it. It ends when
    that interval excludes the default, or with the budget; inside the noise nothing is recommended.
    Each run is an ordinary one; after an end before time the same command goes on.
    """
    from assay.analysis.tune.search import hold_outs
    from assay.cli.several import shown
    from assay.record.places import runs_dir
    from assay.running.asked.asking import considered
    from assay.running.asked.options import RunOptions
    from assay.running.asked.understanding import request_of
    from assay.study.tuning.knobs import searched_knobs
    from assay.study.tuning.planning import Tune

    check_scale_name(context.meta[SCALE], workload)
    keys = run_keys(context, told)
    options = RunOptions.model_validate(SHORT | {"workload": workload} | keys)
    base = request_of(options, list(keys))
    asked = considered(base)
    knobs = searched_knobs(knob or [], asked.engine.knobs(), base.engine)
    titles = (asked.engine.facts.title, asked.workload.facts.title)
    searched = Tune(base, knobs, objective, titles=titles)
    budget_s = budget_seconds(budget) or 0.0
    _check_objective(objective, asked)
    tuning = _Tuning(searched, asked, runs_dir(runs), budget_s, again=again)
    tuning.carry_out()
    shown(tuning.directory, whole=whole, as_json=as_json)
    held = hold_outs(tuning.trials())
    if not any(one.is_better for one in held):
        complain("nothing is recommended: no setting is better than the default beyond noise")
        if held and not held[-1].is_given_up:
            complain("it was not decided: the same command with a larger --budget goes on")
        raise typer.Exit(EXIT_NOTHING)


tune.__doc__ = f"{cleandoc(tune.__doc__ or '')}\n{EXAMPLES}"


def _check_objective(name: str | None, asked: Asked) -> None:
    """Refuses what these runs would have no figure of."""
    from assay.analysis.figures.metrics import BY_NAME, LOAD, ORDER, TEST, kind_of_metric
    from assay.model.errors import UsageError, suggestion

    if name is None:
        return
    request = asked.request
    kind = LOAD if request.clients else TEST if request.test else ORDER
    operations = [] if kind == LOAD else list(asked.plan["operations"])
    # Operations of a test follow each other, too.
    kinds = (None, kind) if kind == LOAD else (None, kind, ORDER)
    metrics = [one.name for one in BY_NAME.values() if kind_of_metric(one) in kinds]
    if name in (known := [*metrics, *operations]):
        return
    if name in BY_NAME:
        of = kind_of_metric(BY_NAME[name])
        mend = {
            LOAD: "a mix has it: say --clients",
            TEST: "a test has it: say --test",
            ORDER: "operations one after another have it: leave --clients and --test out",
        }
        raise UsageError(
            f"--objective {name}: these runs have none; {mend[str(of)]}, or one of"
            f" {', '.join(known)}"
        )
    raise UsageError(f"--objective {name}: no such metric; {suggestion(name, known)}")


class _Tuning:
    """A tune on its way: its study grows by a part after each that is done."""

    def __init__(
        self, asked_for: Tune, asked: Asked, place: Path, budget_s: float, *, again: bool
    ) -> None:
        from assay.record.studies import STUDIES_DIR
        from assay.record.writer import new_run_id

        self._tune = asked_for
        self._place = place
        self._budget_s = budget_s
        self._known: dict[tuple[str, str], Trial] = {}
        self._about = _about(asked_for, asked)
        self._ready = self._prepared()
        found = None if again else _before(place, self._about)
        if found is None:
            name = asked.workload.facts.name
            found = place / STUDIES_DIR / new_run_id(f"tune-{name}", asked_for.base.engine)
        else:
            complain(f"going on with {found.name} (--again begins anew)")
        self.directory = found.absolute()

    def carry_out(self) -> None:
        """Makes step after step until it is decided, or the budget ends.

        Raises:
            AssayError: If the default itself fails; or what ended it early.
            KeyboardInterrupt: On Ctrl-C; the runs so far are kept.
        """
        from assay.cli.study_progress import studying

        with studying(self.directory, one_part=False) as progress:
            parts = self._parts()
            while True:
                if parts and not self._made(parts, progress):
                    complain("the budget ended: the same command with a larger --budget goes on")
                    return
                self._learn_limit(parts)
                following = self._tune.following(parts, self.trials(), self._left())
                if following is None:
                    # What failed last is written down, too.
                    self._made(parts, progress)
                    return
                parts = following

    def trials(self) -> list[Trial]:
        """All runs so far, those that failed without a record among them."""
        from assay.analysis.tune.search import Trial, setting_words

        if not (record := self._record()):
            return []
        failed = [
            Trial(
                one.part,
                setting_words(one.levels),
                dict(one.levels),
                one.round,
                None,
                None,
                one.reason or one.status,
            )
            for one in record.failed()
        ]
        return [*self._complete(record), *failed]

    def _complete(self, record: StudyRecord) -> list[Trial]:
        """The runs that ended well, in the order of parts; each record is read once."""
        from assay.analysis.figures.contract import StudyRun
        from assay.analysis.tune.search import metric_of, trial_of
        from assay.record.reader import Run
        from assay.report.study.reading import checks_of

        for one in record.complete:
            if one.path is None or (one.part, one.path.name) in self._known:
                continue
            try:
                run = Run(one.path)
                told = StudyRun(one.part, dict(one.levels), one.round, run, checks_of(run))
            except RecordUnreadableError as error:
                complain(str(error))
                continue
            metric = metric_of(self._tune.metric, told)
            self._known[one.part, one.path.name] = trial_of(told, metric)
        order = [part.name for part in record.parts]
        return sorted(self._known.values(), key=lambda one: order.index(one.part))

    def _record(self) -> StudyRecord | None:
        from assay.record.studies import STUDY_FILE, read_study

        return read_study(self.directory) if (self.directory / STUDY_FILE).exists() else None

    def _prepared(self) -> Prepared:
        """The engine, which has been asked about every knob's ends.

        Raises:
            UsageError: For a setting that it does not know, or refuses.
            EngineError: If it cannot be had.
        """
        from assay.cli.progress import Progress
        from assay.engines.contract import EngineError
        from assay.study.preparing import considered_all, prepared
        from assay.study.variants import Study

        study = Study("", (self._tune.ends(),))
        known = considered_all(study, of_file=False)
        obtaining = Progress(console())
        try:
            ready = prepared(study.order(), known, obtaining, of_file=False)
        finally:
            obtaining.close()
        if ready.reasons:
            raise EngineError(" ".join(ready.reasons.values()))
        return ready

    def _parts(self) -> list[Part]:
        """The parts of the record, whose limit the first run tells."""
        from assay.record.studies import STUDY_FILE, read_study_file

        if self._record() is None:
            return []
        told = read_study_file(self.directory / STUDY_FILE)["parts"]
        self._learn_limit([self._tune.part_again(one) for one in told[:1]])
        return [self._tune.part_again(one) for one in told]

    def _learn_limit(self, parts: Sequence[Part]) -> None:
        """What the default takes says after how long a setting's operations are cancelled.

        Raises:
            RunFailedError: If the default has no value.
        """
        from dataclasses import replace

        from assay.analysis.figures.metrics import seconds_of
        from assay.record.reader import Run
        from assay.study.tuning.planning import limit_s

        if not parts or self._tune.limit_s is not None:
            return
        record = self._record()
        if record is None or not (complete := self._complete(record)):
            return
        first = complete[0]
        if first.cost is None:
            raise RunFailedError(f"there is nothing to tune: the default failed: {first.reason}")
        path = record.complete[0].path
        if self._tune.base.clients is None and path is not None:
            seconds = [one for one in seconds_of(Run(path)).values() if one is not None]
            self._tune = replace(self._tune, limit_s=limit_s(max(seconds)) if seconds else None)

    def _made(self, parts: Sequence[Part], progress: StudyProgress) -> bool:
        """Makes the runs of these parts that are left; whether the budget sufficed."""
        from assay.cli.several import judging
        from assay.study.pace import expected_after
        from assay.study.several import Means, Terms, carry_out

        failed = {one.setting: one.reason or "" for one in self.trials() if one.cost is None}
        is_first = len(parts) == 1
        outcome = carry_out(
            self._tune.study(parts, failed),
            self.directory,
            self._place,
            progress,
            terms=Terms(self._budget_s, goes_on=not is_first, once=not is_first),
            about=self._about,
            means=Means(self._ready.wrapping(judging(progress)), expected_after(self._place)),
        )
        return not outcome.left_out

    def _left(self) -> Left:
        """What is left of the budget, in runs as they took so far."""
        from assay.record.studies import STUDY_FILE, read_study_file
        from assay.study.tuning.planning import Left

        record = self._record()
        if record is None:
            return Left(None, 1.0)
        told = read_study_file(self.directory / STUDY_FILE)
        left_s = max(0.0, self._budget_s - float(told.get("spent_s", 0.0)))
        # The first run may have obtained the engine and loaded the data.
        took = [one.seconds for one in record.complete[1:] if one.seconds is not None]
        runs = math.floor(left_s / median(took)) if took else None
        return Left(runs, left_s / self._budget_s if self._budget_s else 0.0)


def _about(asked_for: Tune, asked: Asked) -> dict[str, Any]:
    """By which the same search is known again."""
    facts = [
        asked_for.base.facts(),
        [one.facts() for one in asked_for.knobs],
        asked_for.metric,
        asked.workload.content_hash,
    ]
    told = json.dumps(facts, sort_keys=True, default=str)
    return {
        "made_by": MADE_BY,
        "asked": sha256(told.encode()).hexdigest(),
        "knobs": [one.facts() for one in asked_for.knobs],
        "workloads": {asked.workload.facts.name: asked.workload.content_hash},
    }


def _before(place: Path, about: Mapping[str, Any]) -> Path | None:
    """The newest study of the same search."""
    from assay.record.studies import STUDY_FILE, list_studies, read_study_file

    for directory in reversed(list_studies(place)):
        try:
            told = read_study_file(directory / STUDY_FILE).get("about", {})
        except RecordUnreadableError:
            continue
        if (told.get("made_by"), told.get("asked")) == (MADE_BY, about["asked"]):
            return directory
    return None
