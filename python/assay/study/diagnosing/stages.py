"""Tries several causes in rounds, adopts the most effective change, and repeats.

Each round is a part of a growing study. The next runs follow from the existing runs, so an
interrupted diagnosis continues where it stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import median
from typing import TYPE_CHECKING

from assay.analysis.diagnose.judging import ALPHA, judge, judge_slowed, judge_superfluous
from assay.analysis.diagnose.same_plans import plans_stayed
from assay.analysis.diagnose.way import Step, Tried, Untried, Way
from assay.analysis.summarise import summarise
from assay.analysis.try_.trial import mean_times_of, times_for
from assay.model.errors import RunFailedError
from assay.record.layout import STATUS_COMPLETE
from assay.record.reader import Run, took_s
from assay.report.diagnosis.words import shortage_words
from assay.study.diagnosing.candidates import Candidate, candidates_of
from assay.study.diagnosing.further import (
    FURTHER_METHODS,
    further_candidates,
    with_used_indexes,
)
from assay.study.diagnosing.planning import (
    planned_part,
    plans_show_change,
    refuted_by_plans,
    untimed,
    unused,
)
from assay.study.diagnosing.racing import (
    Racing,
    Trials,
    best_of,
    hopeful,
    is_worth_waiting,
    kept_of,
    on_course,
    trials,
)
from assay.study.diagnosing.shortage import budget_shortage, room_for
from assay.study.diagnosing.slowing import slowed_candidate
from assay.study.diagnosing.superfluous import SUPERFLUOUS, Kept, superfluous_candidates
from assay.study.several import begun_in
from assay.study.variants import Part, Study, Variant

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from assay.analysis.diagnose.judging import Judgement
    from assay.analysis.diagnose.way import Ending, Shortage
    from assay.analysis.try_.calibration import Calibration
    from assay.analysis.try_.trial import Times
    from assay.model.finding import Finding
    from assay.running.asked.request import RunRequest
    from assay.study.series import Series
    from assay.study.several import Begun

BASELINE = "as it is"
NO_TIME = "the budget left no time for it"
NEXT_STEP = "another change was kept before it was tried; the next step tries it"
REMOVED = "no plan changes with it any more: the kept changes may have removed this cause, too"
ABOUT = "A run as it is, and one without each of the causes that are tried."


@dataclass
class Diagnosing:
    """A diagnosis of a run's causes in progress.

    Attributes:
        base: Request of the run without changes.
        pilot: A finished run of this kind, whose causes are tried first.
        series: Series that executes the runs.
        history: Results of earlier advice.
        allow_changes: Whether a user's tables may be changed, and the changes reverted.
        budget_s: Time limit for which the number of parallel causes is chosen, in seconds; None
            means no limit.
        used_s: Seconds of the command's time limit that were used before the first round.
    """

    base: RunRequest
    pilot: Run
    series: Series
    history: Calibration
    allow_changes: bool = False
    budget_s: float | None = None
    used_s: float = 0.0
    _parts: list[Part] = field(default_factory=list)
    _times: dict[tuple[str, bool], Times] = field(default_factory=dict)
    _begun: bool = False
    _run_seconds: list[float] = field(default_factory=list)
    _repeated_seconds: list[float] = field(default_factory=list)
    _shortage: Shortage | None = None
    _kept: list[Kept] = field(default_factory=list)
    _settled: set[str] = field(default_factory=set)
    _unused: list[Tried] = field(default_factory=list)

    @property
    def directory(self) -> Path | None:
        """Return the directory of the diagnosis's study; None before its first run."""
        return self.series.directory if self._begun else None

    def carry_out(self) -> Way:
        """Try causes until none has an effect above noise, or the budget ends.

        Raises:
            RunFailedError: If the run without changes fails.
            KeyboardInterrupt: On Ctrl-C. Finished runs are kept, and a repeated call continues
                after them.
        """
        steps: list[Step] = []
        run, base = self.pilot, self.base
        while True:
            step, candidate, is_spent = self._step(len(steps) + 1, run, base, _open(steps))
            steps.append(step)
            if step.kept is None or candidate is None:
                ending = _ending(steps, is_spent=is_spent)
                return Way(tuple(steps), ending, run, self._shortage)
            self._keep(len(steps), step, candidate, base)
            run, base = step.kept.rounds[0][1], candidate.request
            if is_spent:
                return Way(tuple(steps), "budget", run)

    def _keep(self, number: int, step: Step, candidate: Candidate, base: RunRequest) -> None:
        """Record the change that a step keeps, or no longer keeps."""
        if candidate.takes_back is None:
            same = [tried for tried in step.tried if _is_kept(tried, step)]
            causes = [each.cause for each in same if each.judgement.verdict == "confirmed"]
            names = [cause.operations for cause in causes]
            operations = tuple(dict.fromkeys(chain.from_iterable(names))) if all(names) else ()
            self._kept.append(Kept(number, candidate, base, operations))
            self._settled = set()
            return
        self._kept = [each for each in self._kept if each.candidate.change != candidate.takes_back]
        # Little has changed, so the next step does not repeat what this one refuted.
        refuted = (tried.change for tried in step.tried if tried.judgement.verdict == "refuted")
        self._settled |= {candidate.takes_back, *refuted}

    def _step(
        self,
        number: int,
        run: Run,
        base: RunRequest,
        before: Sequence[Finding],
    ) -> tuple[Step, Candidate | None, bool]:
        """Return one step of a diagnosis, the adopted change, and whether the budget ended.

        Causes in `before` are tried once more, even if the current run no longer shows them.
        """
        summary = summarise(run)
        claimed = summary.findings
        keys = {finding.key for finding in claimed}
        causes = [*claimed, *(cause for cause in before if cause.key not in keys)]
        waiting, untriable = candidates_of(
            run, causes, base, self.history, allow_changes=self.allow_changes
        )
        # Each run first reverts what a killed run of the step left on a server.
        undo = dict(chain.from_iterable(c.request.undo.items() for c in waiting)) | base.undo
        base = base.changed(undo=undo)
        waiting = [
            replace(c, request=c.request.changed(undo=undo))
            for c in waiting
            if c.change not in self._settled
        ]
        refuted, only_planned = self._by_plans(f"step {number} plans", run, base, waiting)
        # A cause that an earlier run had may have been removed since then, and is not refuted.
        removed = [each for each in refuted if each.cause.key not in keys]
        refuted = [each for each in refuted if each.cause.key in keys]
        only_planned += [Untried(each.cause, REMOVED, each.change) for each in removed]
        settled = {(each.change, each.cause.key) for each in refuted}
        settled |= {(each.change or "", each.cause.key) for each in only_planned}
        advised = _without(waiting, settled)
        untriable += only_planned
        further = further_candidates(run, base, waiting, self.base)
        further = [c for c in further if c.change not in self._settled]
        superfluous = superfluous_candidates(run, base, self._kept)
        superfluous = [c for c in superfluous if c.change not in self._settled]
        queue = trials(advised, further, superfluous)
        self._unused = []
        racing, is_spent = self._raced(f"step {number}", run, base, queue)
        removes_nothing = all(racer.candidate.takes_back is not None for racer in racing)
        if removes_nothing and best_of(racing) is None and not is_spent:
            # Nothing can be removed, so the resource that takes most of the time is slowed.
            bound = slowed_candidate(summary, base)
            untriable += [bound] if isinstance(bound, Untried) else []
            if isinstance(bound, Candidate):
                alpha = ALPHA - sum(racer.alpha for racer in queue.superfluous)
                slowing = Trials((Racing(bound, alpha),), ())
                slowed, is_spent = self._raced(f"step {number} slowed", run, base, slowing)
                racing += slowed
        failed = [
            untried
            for racer in racing
            if racer.failed is not None and not racer.rounds
            for untried in _untried(racer.candidate, racer.failed)
        ]
        left = [racer.candidate for racer in racing if not racer.rounds and not racer.failed]
        best = best_of(racing)
        why_left = NO_TIME if is_spent else NEXT_STEP
        step = Step(
            run,
            tuple(each.candidate.change for each in self._kept),
            (*(tried for racer in racing for tried in racer.tried()), *refuted, *self._unused),
            (*untriable, *failed),
            tuple(untried for each in left for untried in _untried(each, why_left)),
            None if best is None else kept_of(best),
        )
        return step, None if best is None else best.candidate, is_spent

    def _raced(
        self, name: str, run: Run, base: RunRequest, queue: Trials
    ) -> tuple[list[Racing], bool]:
        """Try changes in rounds; return their trials, and whether the budget ended.

        Changes that no finding advises begin if no advised one can be kept, and then runs without
        a superfluous change.
        """
        racing: list[Racing] = []
        waiting = list(queue.advised)
        later = [queue.further, queue.superfluous]
        is_spent, round_ = False, 0
        while not is_spent:
            while later and not waiting and not hopeful(racing) and best_of(racing) is None:
                waiting = self._with_used_indexes(name, run, base, later.pop(0))
            if self._is_over(racing, waiting, round_):
                break
            while waiting and len(hopeful(racing)) < self._side_by_side():
                racing.append(waiting.pop(0))
            round_ += 1
            self._look_at_budget(f"{name} round {round_}", racing)
            is_spent = not self._round(f"{name} round {round_}", base, racing)
        return [*racing, *waiting], is_spent

    def _with_used_indexes(
        self, name: str, run: Run, base: RunRequest, further: Sequence[Racing]
    ) -> list[Racing]:
        """Return the trials, of indexes only those that the optimiser would use."""
        wide = [
            trial.candidate
            for trial in further
            if trial.candidate.kind == "index" and trial.candidate.takes_back is None
        ]
        part = planned_part(f"{name} indexes", BASELINE, run, base, wide)
        planned: dict[str, Run] = {}
        if part is not None:
            self._parts.append(part)
            self._made(part.name)
            planned = self._complete(part.name)
        chosen = []
        for trial in further:
            candidate: Candidate | None = trial.candidate
            if trial.candidate in wide:
                with_all = planned.get(trial.candidate.change)
                if with_all is None:
                    continue
                candidate = with_used_indexes(trial.candidate, base, with_all)
                self._unused += [] if candidate else [unused(trial.candidate)]
            if candidate is not None and candidate.change not in self._settled:
                chosen.append(Racing(candidate, trial.alpha))
        return chosen

    def _by_plans(
        self, name: str, run: Run, base: RunRequest, waiting: Sequence[Candidate]
    ) -> tuple[list[Tried], list[Untried]]:
        """Return the causes that plans refute, and those that have only hypothetical plans.

        Plans are captured as far as the budget allows.
        """
        planned: dict[str, Run] = {}
        if (part := planned_part(name, BASELINE, run, base, waiting)) is not None:
            self._parts.append(part)
            self._made(name)
            planned = self._complete(name)
        refuted = refuted_by_plans(run, BASELINE, planned, waiting)
        left = _without(waiting, {(tried.change, tried.cause.key) for tried in refuted})
        return refuted, list(untimed(planned.get(BASELINE), planned, left))

    def _side_by_side(self) -> int:
        """Return the number of causes to try per round.

        The first run also loads the data and captures plans, so that later runs tell more. Only
        earlier rounds count: a continued diagnosis makes the same rounds.
        """
        run_s = median(self._run_seconds) if self._run_seconds else took_s(self.pilot)
        return room_for(self.budget_s, run_s)

    def _is_over(self, racing: Sequence[Racing], waiting: Sequence[Racing], round_: int) -> bool:
        """Return True if a step needs no more rounds."""
        best = best_of(racing)
        if best is None:
            return not waiting and not on_course(racing)
        return not any(
            is_worth_waiting(racer, best, round_) for racer in racing if not racer.is_over
        )

    def _look_at_budget(self, round_: str, racing: Sequence[Racing]) -> None:
        """Say once if the budget is too short for a first verdict.

        Args:
            round_: Name of the next round. If it was made before, its time was spent already.
            racing: Changes that are tried.
        """
        budget_s, begun = self.series.terms.budget_s, self._begun_runs()
        is_known = (
            self._shortage is not None or self._kept or any(each.part == round_ for each in begun)
        )
        decided = [
            place for racer in racing for place in racer.verdicts if place not in racer.open_places
        ]
        if budget_s is None or is_known or decided:
            return
        spent_s = sum(each.seconds or 0.0 for each in begun)
        self._shortage = budget_shortage(
            on_course(racing),
            self.pilot,
            self._run_seconds,
            self._repeated_seconds,
            budget_s - spent_s,
            self.used_s + spent_s,
        )
        if self._shortage is not None:
            self.series.watcher.remark(shortage_words(self._shortage))

    def _begun_runs(self) -> list[Begun]:
        return begun_in(self.series.directory) if self._begun else []

    def _round(self, name: str, base: RunRequest, racing: Sequence[Racing]) -> bool:
        """Run a round of the undecided trials; return whether the budget sufficed."""
        on = on_course(racing)
        # A slowed resource is tried alone, with a baseline of its own.
        slowing = on[0].candidate.slowing
        baseline, request = (
            (BASELINE, base) if slowing is None else (slowing.before, slowing.request)
        )
        # Plans are captured once, because they do not change between rounds.
        new = [slowing is None and not racer.rounds for racer in on]
        variants = [Variant(baseline, _with_plans(request, any(new)))]
        variants += [
            Variant(
                racer.candidate.change,
                _with_plans(racer.candidate.request, is_new),
                {"cause": racer.candidate.cause.key},
            )
            for racer, is_new in zip(on, new, strict=True)
        ]
        self._parts.append(Part(name, tuple(variants), 1, ABOUT, apart=True))
        # The change whose verdict is nearest goes first if the budget is short.
        nearest = sorted(on, key=lambda racer: racer.rounds_left)
        compared = (baseline, *(racer.candidate.change for racer in nearest))
        is_spent = self._made(name, compared)
        ids = self._complete(name)
        seconds = [
            begun.seconds
            for begun in begun_in(self.series.directory)
            if begun.part == name and begun.status == STATUS_COMPLETE and begun.seconds is not None
        ]
        self._run_seconds += seconds
        self._repeated_seconds += [] if any(new) else seconds
        before = ids.get(baseline)
        if before is None and not is_spent and slowing is None:
            raise RunFailedError(
                f"the run without a change failed: {self._why_failed(name, baseline)}"
            )
        for racer in on:
            after = ids.get(racer.candidate.change)
            if before is not None and after is not None:
                racer.rounds.append((before, after))
                for place in racer.open_places:
                    judgement = self._judged(racer, racer.candidate.causes[place])
                    racer.verdicts[place] = judgement, len(racer.rounds)
            elif not is_spent:
                missing = baseline if before is None else racer.candidate.change
                racer.failed = self._why_failed(name, missing)
        return not is_spent

    def _made(self, part: str, compared: tuple[str, ...] = ()) -> bool:
        """Execute the remaining runs of a section; return whether the budget left some out.

        Args:
            part: Name of the section.
            compared: Variants of a round: without any change, and then the most important first.
        """
        names = ", ".join(self.base.operations) or self.base.workload
        question = f"What would make {names} on {self.base.engine} faster?"
        study = Study(question, tuple(self._parts), self.base.seed, "Causes, tried")
        if not self._begun:
            self.series.begin(study)
            self._begun = True
        # A failed run is tried again by the next call, not by the next round.
        terms = replace(self.series.terms, goes_on=True, parts=frozenset({part}), compared=compared)
        left_out = self.series.make(study, terms).left_out
        return any(planned.part == part for run in left_out for planned in run.stands_for)

    def _complete(self, part: str) -> dict[str, Run]:
        return {
            begun.variant: Run(self.series.place / begun.id)
            for begun in begun_in(self.series.directory)
            if begun.part == part and begun.status == STATUS_COMPLETE and begun.id is not None
        }

    def _why_failed(self, part: str, variant: str) -> str:
        reasons = [
            begun.reason
            for begun in begun_in(self.series.directory)
            if begun.part == part and begun.variant == variant and begun.reason
        ]
        return reasons[-1] if reasons else "its run did not end"

    def _judged(self, racer: Racing, cause: Finding) -> Judgement:
        if (slowing := racer.candidate.slowing) is not None:
            slowed = [(mean_times_of(one), mean_times_of(other)) for one, other in racer.rounds]
            return judge_slowed(slowed, slowing.factor, racer.alpha)
        times = [
            (self._times_of(before, cause), self._times_of(after, cause))
            for before, after in racer.rounds
        ]
        about, candidate, first = cause.operations, racer.candidate, racer.rounds[0]
        if candidate.takes_back is not None:
            return judge_superfluous(times, about, racer.alpha)
        shown = candidate.by_plan and plans_show_change(first[0], candidate.kind, about)
        stayed = shown and plans_stayed(*first, about)
        return judge(times, about, racer.alpha, gain_min=candidate.gain_min, plans_stayed=stayed)

    def _times_of(self, run: Run, cause: Finding) -> Times:
        key = run.id, cause.advice is not None and cause.advice.is_per_client
        if key not in self._times:
            self._times[key] = times_for(cause.advice, run)
        return self._times[key]


def _open(steps: Sequence[Step]) -> list[Finding]:
    """Return the causes of the last step that were neither refuted nor removed."""
    if not steps:
        return []
    last = steps[-1]
    tried = [
        tried.cause
        for tried in last.tried
        if tried.judgement.verdict != "refuted" and not _is_kept(tried, last)
    ]
    causes = [*tried, *(untried.cause for untried in last.left_out)]
    # The next step finds these again, if they are still possible.
    left_out = {*FURTHER_METHODS, SUPERFLUOUS}
    return [cause for cause in causes if cause.method not in left_out]


def _is_kept(tried: Tried, step: Step) -> bool:
    """Return True if the change that would remove a cause was adopted."""
    return step.kept is not None and tried.change == step.kept.change


def _without(
    candidates: Sequence[Candidate], settled: Collection[tuple[str, str]]
) -> list[Candidate]:
    """Return the candidates without these causes, each given by its change and its key."""
    left = (candidate.without(settled) for candidate in candidates)
    return [candidate for candidate in left if candidate is not None]


def _untried(candidate: Candidate, why: str) -> list[Untried]:
    """Return the causes of a change that was not tried, with the reason."""
    return [Untried(cause, why, candidate.change) for cause in candidate.causes]


def _with_plans(request: RunRequest, plans: bool) -> RunRequest:  # noqa: FBT001 - a field
    return request if plans else request.changed(plans=False)


def _ending(steps: Sequence[Step], *, is_spent: bool) -> Ending:
    last = steps[-1]
    if is_spent or last.left_out:
        return "budget"
    if not last.tried and last.untriable:
        return "nothing can be tried"
    return "no cause left"
