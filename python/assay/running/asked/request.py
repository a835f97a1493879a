"""The parsed request of a run, which is stored in the record and executed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field

from assay.model.errors import UsageError
from assay.model.language import Language
from assay.model.secrets import HIDDEN, is_secret, sql_without_secrets, without_secrets
from assay.record.repeating import options_to_give
from assay.running.asked.parsing import PARAMETERS_DEFAULT, STATE_HOT
from assay.running.asked.plain_options import PlainOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class RunRequest(PlainOptions):
    """The request of one run: all option values in parsed form.

    Attributes:
        workload: Name or folder of the workload.
        engine: Name of the engine.
        scale: Scale of the data, in the workload's own measure.
        engine_version: Version of the engine; None means the default version.
        bin_dir: Directory of installed programs of the engine; None if they are obtained.
        drivers: JDBC drivers for a running server: files, or Maven names.
        fleet_tls: Directory with the certificates for connections to agents; None without
            TLS.
        operations: Operations of the workload to execute. An empty list means all operations.
        remove: Parts to remove from each operation, see `workloads.rewriting`.
        sorted_by: Columns that the rows of a table are sorted by before they are loaded.
        load_order: Tables in loading order; empty means the engine's default order. `rest` stands
            for all tables that are not named; by default they come last.
        settings: Settings of the engine that differ from its defaults. On a running server the
            settings are session settings.
        without: Techniques of planner and executor that are switched off. `settings` includes the
            settings that switch these techniques off.
        durability: The engine's durability level; None if it has no levels, or its settings match
            none.
        durability_settings: Settings of that level that are not among `settings`.
        one_transaction: Operations whose statements Assay puts into one transaction.
        prepare: SQL that changes the loaded data before the timed part, by the file's name.
        changes: SQL that changes tables of a running server before the timed part, by a label.
        undo: SQL that reverts these changes, by the same labels. The SQL is executed at the end of
            the run, and before its start in case a killed run left changes.
        parameters: `default` (the validation values) or `drawn` from the seed.
        language: Query language; None means the first of the workload's languages that the engine
            supports.
        rate_per_s: Operations per second that become due; None means each starts as soon as a
            session is free.
        time_s: Measured time of a mix.
        warmup_s: Seconds of load before the measured part.
        kill_s: Seconds from the start of the measured part until the engine is killed and
            recovered; None if it is not killed.
        retries_max: Attempts beyond the first after an error that the engine calls temporary.
        min_time_s: Passes of the power order are repeated until this much time was measured.
        operation_deadline_s: Seconds after which an operation is cancelled; 0 means no limit.
        probes: Names of the probes that run; None means all default probes.
        probe_interval_s: Time between two samples of a probe.
        profile_hz: CPU samples per second of the engine's CPU time; None means no samples.
        plans_executed: Whether plans are captured by execution; otherwise plans have estimates
            only.
        plans_only: Whether only plans are captured, without execution, and no load is executed.
        hypothetical_indexes: SQL of indexes that do not exist, by a label. The optimiser assumes
            that they exist while plans are captured without execution.
        forced: Alternative texts of one operation, executed instead of the workload's operations,
            by name such as `q09@3`. Each text has `sql`, `kind` and `words`. The first text leaves
            the plan to the engine.
        rounds: Number of timings of each of these texts; 0 means only the first one is timed, for
            the usual time.
        pin: CPUs of `engine` and `client`, if given.
        state: Required contents of memory when the timed part begins: one of `parsing.STATES`.
        state_passes: Untimed passes of the power order before the timed ones.
        read_ahead_bytes: Read-ahead, in bytes, of the device that holds the data; None means
            unchanged.
        own_device: Whether the data are on a device that Assay creates.
        device_bytes: Size of that device; None means as large as the data require.
        limits: Maximum resources of the engine, by `running.changes.limits.limit.NAMES`: cores,
            CPUs, operations per second, bytes per second, bytes.
        slow: Factor by which each resource of `running.host.slowing.NAMES` becomes slower for the
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
    one_transaction: list[str] = Field(default_factory=list)
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
    plans_only: bool = False
    hypothetical_indexes: dict[str, str] = Field(default_factory=dict)
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
        """Return the settings with which Assay starts the engine, apart from its defaults."""
        return self.durability_settings | self.settings

    def runs_probe(self, name: str) -> bool:
        """Return True if a probe that runs by default is not excluded."""
        return self.probes is None or name in self.probes

    def changed(self, **changes: Any) -> Self:  # noqa: ANN401 - of whatever field
        """Return the request with some fields changed.

        Raises:
            ValidationError: If a field does not exist, or a value has the wrong type.
        """
        return type(self)(**{**dict(self), **changes})

    def facts(self) -> dict[str, Any]:
        """Return the request as JSON values for the record, without secrets."""
        settings = {
            name: HIDDEN if is_secret(name) else without_secrets(value)
            for name, value in self.settings.items()
        }
        dsn = None if self.dsn is None else without_secrets(self.dsn)
        prepare = {name: sql_without_secrets(text) for name, text in self.prepare.items()}
        return self.model_dump() | {"settings": settings, "dsn": dsn, "prepare": prepare}

    def said(self) -> dict[str, Any]:
        """Return the request's facts that differ from the defaults."""
        fields = type(self).model_fields
        without = {
            name: field_info.get_default(call_default_factory=True)
            for name, field_info in fields.items()
        }
        return {name: fact for name, fact in self.facts().items() if fact != without[name]}


@dataclass(frozen=True)
class GivenAgain:
    """Options of a recorded run that the user has to give again when the run is repeated.

    See `record.repeating`.

    Attributes:
        dsn: Address of the running server; None if it is not given.
        bin_dir: Directory of installed programs of the engine; None if it is not given.
        drivers: JDBC drivers: files, or Maven names.
    """

    dsn: str | None = None
    bin_dir: str | None = None
    drivers: Sequence[str] = ()


def recorded_request(facts: Mapping[str, Any], given: GivenAgain | None = None) -> RunRequest:
    """Return the request of a recorded run, so that it can be repeated.

    Args:
        facts: `request` of run.json. Options that older records lack have their defaults.
        given: Options that were given again; None means none.

    Raises:
        UsageError: If the record lacks parts of the request, or an option has to be given again.
    """
    given = given or GivenAgain()
    if strange := sorted(set(facts) - set(RunRequest.model_fields)):
        raise UsageError(
            f"the recorded run has the option {strange[0]!r}, which this version of Assay does "
            "not know"
        )
    request = RunRequest(**facts)
    if given.dsn is not None and request.dsn is None:
        raise UsageError("--dsn: the recorded run used a server that Assay started: remove --dsn")
    _refuse_not_given(facts, given)
    request = request.changed(
        dsn=given.dsn or request.dsn, bin_dir=given.bin_dir, drivers=list(given.drivers)
    )
    texts = {**request.settings, **request.prepare}
    if hidden := [name for name, text in texts.items() if HIDDEN in text]:
        raise UsageError(
            f"the record contains no secrets, and {hidden[0]!r} had one: the run cannot be "
            "repeated with it"
        )
    return request


def _refuse_not_given(facts: Mapping[str, Any], given: GivenAgain) -> None:
    """Refuse a record whose programs or database were not given again."""
    values_given = {"--dsn": given.dsn, "--bin-dir": given.bin_dir, "--driver": given.drivers}
    missing = {
        option: values
        for option, values in options_to_give(facts).items()
        if not values_given[option]
    }
    if any(HIDDEN in value for value in missing.get("--dsn", ())):
        raise UsageError(
            "the record contains no password: give the server's address again with --dsn"
        )
    if missing:
        options = [f"{option} {value}" for option in missing for value in missing[option]]
        raise UsageError(
            "the recorded run changed a database or executed programs that its record names, and "
            f"a record may come from somebody else: if you trust it, add {' '.join(options)}"
        )
