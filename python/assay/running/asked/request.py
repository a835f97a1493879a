"""One run as it is asked for, understood: what the record says, and what a run is made by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from pydantic import Field

from assay.model.errors import UsageError
from assay.model.language import Language
from assay.model.secrets import HIDDEN, is_secret, sql_without_secrets, without_secrets
from assay.running.asked.options import PlainOptions
from assay.running.asked.parsing import PARAMETERS_DEFAULT, STATE_HOT

if TYPE_CHECKING:
    from collections.abc import Mapping


class RunRequest(PlainOptions):
    """One run as asked for: the plain options, and what was understood of the others.

    Attributes:
        workload: Name or folder of the workload.
        engine: Name of the engine.
        scale: Scale of the data, in the workload's own measure.
        engine_version: Which of its versions; None: the engine's default.
        bin_dir: Programs of the engine that are there already; None: they are obtained.
        drivers: JDBC drivers that a running server is reached by: files, or names of Maven.
        fleet_tls: Directory with the certificates that agents are reached with; None: without TLS.
        operations: Those of the workload's order that are played; empty: all.
        remove: Parts that each of them is asked without, see `workloads.rewriting`.
        sorted_by: Columns that the rows of a table are sorted by before they are loaded.
        load_order: Tables in the order in which they are loaded, one after another; `rest` stands
            for those not named, which come last without it. Empty: as suits the engine.
        settings: Settings of the engine that differ from its defaults; on a running server those of
            the sessions.
        without: Techniques of planner and executor that are switched off; their settings are among
            those above.
        durability: The engine's level of durability; None: it has none, or settings are of none.
        durability_settings: Settings of that level that are not among `settings`.
        prepare: SQL that changes the loaded data before anything is timed, by the file's name.
        changes: SQL that changes tables of a running server before anything is timed, by a label.
        undo: SQL that takes the same back when the run ends, and before it begins, in case a killed
            run left it; by the same labels.
        parameters: `default` (the validation values) or `drawn` from the seed.
        language: In which the engine is asked; None: the first of the workload's that it speaks.
        rate_per_s: Operations a second that become due; None: as soon as a session is free.
        time_s: Measured time of a mix.
        warmup_s: How long it is played before.
        kill_s: The engine is killed so long after the measured part began, and recovered; None: it
            is not killed.
        retries_max: Attempts beyond the first after an error that the engine calls temporary.
        min_time_s: Passes of the power order are repeated until this much time was measured.
        operation_deadline_s: An operation that takes longer is cancelled; 0: no limit.
        probes: Names of the probes that run; None: all that observe without being asked.
        probe_interval_s: Time between two samples of a probe.
        profile_hz: CPU samples a second of the engine's CPU time; None: none are taken.
        plans_executed: Plans are asked for by executing; else they have estimates only.
        forced: Texts of one operation that are played in the place of the order, by name such as
            `q09@3`: each its `sql`, `kind` and `words`. The first is as the engine would have it.
        rounds: How often each of these is timed; 0: the first alone, for as long as an order is.
        pin: CPUs of `engine` and `client`, where they are given.
        state: What is in memory when the timed part begins: one of `parsing.STATES`.
        state_passes: Untimed passes of the power order before the timed ones.
        read_ahead_bytes: Read-ahead, in bytes, of the device that holds the data; None: as it is.
        own_device: Whether the data are on a device of ours.
        device_bytes: How large it is; None: as the data need.
        limits: What the engine may use at most, by `running.changes.limits.limit.NAMES`: cores,
            CPUs, operations a second, bytes a second, bytes.
        slow: How many times as long a resource of `running.host.slowing.NAMES` is to take for the
            engine.
    """

    workload: str
    engine: str
    scale: float
    engine_version: str | None = None
    bin_dir: str | None = None
    drivers: list[str] = Field(default_factory=list)
    fleet_tls: str | None = None
    operations: list[str] = Field(default_factory=list)
    remove: list[str] = Field(default_factory=list)
    sorted_by: dict[str, list[str]] = Field(default_factory=dict)
    load_order: list[str] = Field(default_factory=list)
    settings: dict[str, str] = Field(default_factory=dict)
    without: list[str] = Field(default_factory=list)
    durability: str | None = None
    durability_settings: dict[str, str] = Field(default_factory=dict)
    prepare: dict[str, str] = Field(default_factory=dict)
    changes: dict[str, str] = Field(default_factory=dict)
    undo: dict[str, str] = Field(default_factory=dict)
    parameters: str = PARAMETERS_DEFAULT
    language: Language | None = None
    rate_per_s: float | None = None
    time_s: float = 30.0
    warmup_s: float = 5.0
    kill_s: float | None = None
    retries_max: int = 0
    min_time_s: float = 20.0
    operation_deadline_s: float = 0.0
    probes: tuple[str, ...] | None = None
    probe_interval_s: float = 0.1
    profile_hz: int | None = None
    plans_executed: bool = True
    forced: dict[str, dict[str, str]] = Field(default_factory=dict)
    rounds: int = 0
    pin: dict[str, list[int]] = Field(default_factory=dict)
    state: str = STATE_HOT
    state_passes: int = 1
    read_ahead_bytes: int | None = None
    own_device: bool = False
    device_bytes: int | None = None
    limits: dict[str, float] = Field(default_factory=dict)
    slow: dict[str, float] = Field(default_factory=dict)

    @property
    def engine_settings(self) -> dict[str, str]:
        """Return the settings that our engine is started with beside its defaults."""
        return self.durability_settings | self.settings

    def runs_probe(self, name: str) -> bool:
        """Return True if a default probe was not left out."""
        return self.probes is None or name in self.probes

    def changed(self, **changes: Any) -> Self:  # noqa: ANN401 - of whatever field
        """Return the request with these fields changed.

        Raises:
            ValidationError: For a field that there is none of, or a value of another type.
        """
        return type(self)(**{**dict(self), **changes})

    def facts(self) -> dict[str, Any]:
        """The request as it stands in the record, without secrets."""
        settings = {
            name: HIDDEN if is_secret(name) else without_secrets(value)
            for name, value in self.settings.items()
        }
        dsn = None if self.dsn is None else without_secrets(self.dsn)
        prepare = {name: sql_without_secrets(text) for name, text in self.prepare.items()}
        return self.model_dump() | {"settings": settings, "dsn": dsn, "prepare": prepare}

    def said(self) -> dict[str, Any]:
        """Return the facts that differ from the defaults."""
        fields = type(self).model_fields
        without = {
            name: field_info.get_default(call_default_factory=True)
            for name, field_info in fields.items()
        }
        return {name: fact for name, fact in self.facts().items() if fact != without[name]}


def recorded_request(facts: Mapping[str, Any], dsn: str | None = None) -> RunRequest:
    """The request that a record's facts are of, to be asked for again.

    Args:
        facts: `request` of run.json; what older records lack is as it was then: the default.
        dsn: DSN of the running server, where one was asked: its password is in no record.

    Raises:
        UsageError: If the record does not tell all that was asked for.
    """
    if strange := sorted(set(facts) - set(RunRequest.model_fields)):
        raise UsageError(f"the run was asked for {strange[0]!r}, which this Assay does not know")
    request = RunRequest(**facts)
    if dsn is not None and request.dsn is None:
        raise UsageError("--dsn: the run was on a private server; leave it out")
    request = request.changed(dsn=dsn or request.dsn)
    if request.dsn is not None and HIDDEN in request.dsn:
        raise UsageError("a record holds no password: give the server's address once more, --dsn")
    texts = {**request.settings, **request.prepare}
    if hidden := [name for name, text in texts.items() if HIDDEN in text]:
        raise UsageError(
            f"a record holds no secret, and {hidden[0]!r} had one: ask for a run without it"
        )
    return request
