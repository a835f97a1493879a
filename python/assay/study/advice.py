"""Turns a finding's advice into a change of the run asked for. Pure but for files of SQL."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from assay.engines.advice import CannotError
from assay.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from assay.engines.advice import Doing
    from assay.engines.discovery import EngineFolder
    from assay.model.finding import Advice, Change
    from assay.running.asked.request import RunRequest

# Advice about the state of a run says how long it has to be played before it is measured.
WARMUP = "warmup_s"


@dataclass(frozen=True)
class AdvisedRun:
    """A run with the advice followed.

    Attributes:
        text: What is changed, short: `work_mem=64MB`.
        request: The run as it is to be asked for.
    """

    text: str
    request: RunRequest


def followed(
    request: RunRequest, advice: Advice, engine: EngineFolder, on_server: Change | None = None
) -> AdvisedRun:
    """The request with the advice followed.

    Args:
        request: The run that the advice is about.
        advice: What is to be changed.
        engine: Of the run.
        on_server: Statements that change tables of a running server, and take that back; None: the
            tables are ours, or it is no change of tables.

    Raises:
        UsageError: If the engine, or a run like this, cannot follow it; says why.
        EngineError: If the engine's `advice.toml` cannot be read.
    """
    ways: dict[str, Callable[[RunRequest, Advice, EngineFolder], AdvisedRun]] = {
        "setting": _setting,
        "index": _statement,
        "statistics": _statement,
        "vacuum": _statement,
        "clients": _clients,
        "state": _state,
    }
    way = ways[advice.kind] if on_server is None else partial(_on_server, change=on_server)
    try:
        change = way(request, advice, engine)
    except CannotError as why:
        raise UsageError(f"this cannot be carried out on {engine.facts.title}: {why}") from why
    if change.request == request:
        raise UsageError(f"there is nothing to try: the run had {change.text} already")
    return change


def _setting(request: RunRequest, advice: Advice, engine: EngineFolder) -> AdvisedRun:
    name, value = engine.advising().setting(advice.subject, _value(advice))
    return AdvisedRun(
        f"{name}={value}", request.changed(settings={**request.settings, name: value})
    )


def _statement(request: RunRequest, advice: Advice, engine: EngineFolder) -> AdvisedRun:
    """Data that are prepared once more, after all that was asked for."""
    doing: Doing = advice.kind  # type: ignore[assignment]
    facts = engine.advising()
    columns = _columns(advice)
    if doing not in facts.statements:
        raise CannotError(facts.without.get(doing, f"it has no statement for {doing}"))
    if doing == "index" and not columns:
        raise CannotError(f"the finding does not say which columns of {advice.subject}")
    template = (engine.folder / facts.statements[doing]).read_text(encoding="utf-8")
    sql = facts.statement(template, advice.subject, columns)
    label = _label(advice)
    return AdvisedRun(label, request.changed(prepare={**request.prepare, label: sql}))


def _on_server(
    request: RunRequest, advice: Advice, engine: EngineFolder, change: Change
) -> AdvisedRun:
    """A change of tables that are not ours, which every run takes back."""
    del engine
    if change.undo is None:
        raise CannotError("no statement takes the change back")
    label = _label(advice)
    undo = {label: change.undo}
    return AdvisedRun(label, request.changed(changes={label: change.sql}, undo=undo))


def _label(advice: Advice) -> str:
    columns = _columns(advice)
    return f"{advice.kind} of {advice.subject}" + (f" ({', '.join(columns)})" if columns else "")


def _columns(advice: Advice) -> list[str]:
    texts = advice.values.get("columns", "").split(",")
    return [name.strip() for name in texts if name.strip()]


def _clients(request: RunRequest, advice: Advice, engine: EngineFolder) -> AdvisedRun:
    del engine
    if request.clients is None:
        raise CannotError("the run asks its operations one after another, without clients")
    value = _value(advice)
    if not value.isdecimal() or int(value) < 1:
        raise CannotError(f"{value!r} is no number of clients")
    return AdvisedRun(f"{value} clients", request.changed(clients=int(value)))


def _state(request: RunRequest, advice: Advice, engine: EngineFolder) -> AdvisedRun:
    del engine
    if request.clients is None:
        raise CannotError("an order is only measured after a pass that is not")
    try:
        warmup_s = float(advice.values[WARMUP])
    except (KeyError, ValueError) as error:
        raise CannotError(f"`assay run` cannot bring about the state {advice.subject!r}") from error
    return AdvisedRun(f"{warmup_s:g} s of warm-up", request.changed(warmup_s=warmup_s))


def _value(advice: Advice) -> str:
    if "value" not in advice.values:
        raise CannotError(f"the finding does not say to which value {advice.subject} is set")
    return advice.values["value"]
