"""Types for an experiment: its declaration, and the changed run that it requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.model.finding import UNSEEN

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice, AdviceKind
    from assay.running.asked.request import RunRequest

    Follow = Callable[[RunRequest, Advice, EngineFolder], "ChangedRun"]


@dataclass(frozen=True)
class ChangedRun:
    """A run with one change made by an experiment.

    Attributes:
        text: Short description of the change: `work_mem=64MB`.
        request: Request of the changed run.
    """

    text: str
    request: RunRequest


def never(_: Advice) -> bool:
    """Return False: the change has an effect even if no plan changes."""
    return False


def always(_: Advice) -> bool:
    """Return True: the change has no effect on a statement whose plan stays the same."""
    return True


@dataclass(frozen=True)
class Experiment:
    """One kind of change that an experiment can try.

    Attributes:
        kind: Kind of advice that the experiment carries out.
        changes: Object of the change, as the end of the sentence "this changes ...".
        set_up: Setup that each of its runs needs.
        undo: Method of reverting the change.
        follow: Returns the run with the change. `follow` raises `CannotError` with the reason if
            the engine or this kind of run does not allow the change.
        by_plan: Whether the change acts only through the plan, so that without a new plan it has no
            effect.
        gain_means: Clause on the meaning of the gain, for a change that only tests a cause and may
            not be recommended; None for a change that may be recommended and kept.
    """

    kind: AdviceKind
    changes: str
    set_up: str
    undo: str
    follow: Follow
    by_plan: Callable[[Advice], bool] = never
    gain_means: str | None = None

    @property
    def stays(self) -> bool:
        """Return True if the change may be recommended and kept."""
        return self.gain_means is None


def shown_by_plans(advice: Advice) -> bool:
    """Return True if the change acts through plans and the advice does not say otherwise."""
    return not UNSEEN.items() <= advice.values.items()


def value_of(advice: Advice) -> str:
    """Return the value that an advice names.

    Raises:
        CannotError: If the advice has no value.
    """
    if "value" not in advice.values:
        raise CannotError(f"the finding does not say to which value {advice.subject} is set")
    return advice.values["value"]
