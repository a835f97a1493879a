"""Obtains the engine of a run, or reads version and statements of a running server."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.engines.checking import ReadsOnlyByTransaction, TellsPooler
from assay.engines.contract import (
    ChecksSettings,
    Embedded,
    Engine,
    EngineError,
    Place,
    Product,
    Server,
    Wanted,
)
from assay.model.errors import UsageError
from assay.running.asked.asked_run import Asked
from assay.running.asked.parsing import PREPARED
from assay.running.asked.played import played_statements
from assay.running.asked.preflight import preflight
from assay.running.asked.writing import (
    check_others,
    check_transactions,
    check_unknown,
    guarded,
    reads_only,
)
from assay.running.host.places import engines_dir
from assay.running.server.bridging import loads, reached_before
from assay.running.server.server_tables import with_tables_of
from assay.running.telling import Teller, telling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engines.contract import Instance
    from assay.running.asked.request import RunRequest
    from assay.workloads.contract import Workload


class Obtained(NamedTuple):
    """An installed engine or running server: version and facts of the statements.

    The workload has the server's tables.
    """

    product: Product | None
    version: str
    workload: Workload
    preflight: dict[str, Any] | None = None
    pooled: bool = False
    begin_read_only: str | None = None


def obtained(asked: Asked, teller: Teller) -> Obtained:
    """Return the installed engine or the running server, and facts of the run's statements.

    Raises:
        UsageError: If a running server cannot execute a statement.
        EngineError: If the engine cannot be obtained or reached.
    """
    if asked.request.dsn is not None and asked.file is None:
        return _looked_at(asked)
    product = _product(asked.request, asked.behaviour, teller)
    if asked.file is None:
        return Obtained(product, product.version, asked.workload)
    workload, facts = _tried_on_file(asked, asked.file)
    return Obtained(product, product.version, workload, facts)


def with_schema(asked: Asked) -> Asked:
    """Return the run with the schema of a user's tables, if it rewrites queries of them.

    Raises:
        UsageError: If a query cannot be rewritten.
        EngineError: If the server cannot be reached.
    """
    if not asked.workload.removed or asked.workload.server_tables is not None:
        return asked
    opened = _attached(asked) if asked.file is None else _opened(asked, asked.file)
    with opened as instance:
        asked = with_tables_of(asked, instance)
    asked.facts()
    return asked


def check_settings(asked: Asked) -> None:
    """Raise `EngineError` if the installed engine refuses a setting."""
    if asked.product is not None and isinstance(asked.behaviour, ChecksSettings):
        settings = asked.request.engine_settings
        try:
            asked.behaviour.check_settings(asked.product, settings)
        except EngineError as error:
            near = asked.engine.knobs().near(name for name in settings if name in str(error))
            raise EngineError(f"{error}{near}") from error


def _product(request: RunRequest, behaviour: Engine, teller: Teller) -> Product:
    bin_dir = None if request.bin_dir is None else Path(request.bin_dir)
    wanted = Wanted(engines_dir(), request.engine_version, bin_dir)
    return behaviour.obtain(wanted, telling(teller))


def _looked_at(asked: Asked) -> Obtained:
    """Return a running server's version, after it has prepared the run's statements."""
    request, behaviour = asked.request, _server(asked)
    with _attached(asked) as instance:
        pooled = isinstance(behaviour, TellsPooler) and behaviour.is_pooled(instance)
        if pooled:
            _check_sessions(request)
        facts, begin = None, None
        asked = with_tables_of(asked, instance)
        if asked.workload.makes_data:
            _check_pooled(asked, pooled=pooled)
            if not loads(behaviour, instance):
                check_others(asked)
        else:
            facts = preflight(played_statements(asked), behaviour, instance)
            check_unknown(asked)
            begin = _begin_read_only(asked, instance)
        version = behaviour.version(instance)
        return Obtained(None, version, asked.workload, facts, pooled, begin)


def _server(asked: Asked) -> Server:
    behaviour = asked.behaviour
    if not isinstance(behaviour, Server):
        raise UsageError("--dsn needs an engine that is a server")
    return behaviour


@contextmanager
def _attached(asked: Asked) -> Iterator[Instance]:
    """Yield the running server, connected to as the run's sessions will be."""
    behaviour, guarding = _server(asked), partial(guarded, asked)
    with reached_before(behaviour, asked.dsn, asked.request, guarding) as address:
        instance = behaviour.attach(address)
        try:
            yield instance
        finally:
            behaviour.detach(instance)


def _begin_read_only(asked: Asked, instance: Instance) -> str | None:
    """Return the statement that begins each operation, if only a transaction can refuse writes.

    Raises:
        UsageError: If an operation has its own transaction, which would end the read-only one.
    """
    behaviour = asked.behaviour
    if not reads_only(asked) or not isinstance(behaviour, ReadsOnlyByTransaction):
        return None
    begin = behaviour.read_only_transaction(instance)
    if begin is not None:
        check_transactions(asked)
    return begin


def _check_sessions(request: RunRequest) -> None:
    """Refuse options that sessions keep: the next transaction may have another session."""
    if request.statements == PREPARED:
        raise UsageError(
            "--statements prepared: a pooler may give the next transaction a "
            "connection without the prepared statements: name the server itself in "
            "--dsn, or remove --statements"
        )
    if request.settings:
        raise UsageError(
            f"{next(iter(request.settings))}: a pooler does not pass on the settings of a "
            "session: name the server itself in --dsn, or remove --set"
        )


def _check_pooled(asked: Asked, *, pooled: bool) -> None:
    """Refuse to make tables through a pooler: schema locks belong to one connection."""
    if pooled:
        raise UsageError(
            f"the workload {asked.workload.facts.name} creates tables, which sessions may not "
            "find again through a pooler: name the server itself in --dsn, not the pooler"
        )


def _tried_on_file(asked: Asked, file: Path) -> tuple[Workload, dict[str, Any]]:
    """Have an embedded engine prepare the run's statements on the user's file.

    The returned workload has the file's tables.
    """
    with _opened(asked, file) as instance:
        asked = with_tables_of(asked, instance)
        facts = preflight(played_statements(asked), asked.behaviour, instance)
    check_unknown(asked)
    return asked.workload, facts


@contextmanager
def _opened(asked: Asked, file: Path) -> Iterator[Instance]:
    """Yield the user's file, opened as the run will open it."""
    behaviour = asked.behaviour
    assert isinstance(behaviour, Embedded)  # noqa: S101 - no other engine opens files
    with TemporaryDirectory() as scratch:
        place = Place(Path(scratch), Path(scratch), file, reads_only=reads_only(asked))
        instance = behaviour.start(place, asked.request.settings)
        try:
            yield instance
        finally:
            behaviour.stop(instance)
