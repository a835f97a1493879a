"""Experiment with a named setting: the engine's default, or a cheaper value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import BY_PLANS, BY_VALUES
from assay.study.experiments.contract import ChangedRun, Experiment, value_of

if TYPE_CHECKING:
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice
    from assay.running.asked.request import RunRequest


def _follow(request: RunRequest, advice: Advice, engine: EngineFolder) -> ChangedRun:
    del engine
    name, value = advice.subject, value_of(advice)
    # Without the setting of the run, that of a configuration file would count.
    return ChangedRun(
        f"{name}={value}", request.changed(settings={**request.settings, name: value})
    )


def _acts_by_plans(advice: Advice) -> bool:
    """Return True if plans of one row of parameter values show whether the setting acts."""
    values = advice.values.items()
    return BY_PLANS.items() <= values and not BY_VALUES.items() <= values


experiment = Experiment(
    kind="named-setting",
    changes="a setting of the engine",
    set_up="the engine is started with the setting, or each session sets it",
    undo="the setting ends with the engine or the session",
    follow=_follow,
    by_plan=_acts_by_plans,
)
