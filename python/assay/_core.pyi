"""Types of the compiled core. Written by hand; a test compares them with the module."""

from collections.abc import Callable, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Self, TypedDict, final

class PlanError(ValueError): ...
class SessionOpenError(OSError): ...
class RecordError(OSError): ...
class DefectError(RuntimeError): ...

@final
class CancelFlag:
    def __new__(cls) -> CancelFlag: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

@final
class NullSession:
    def __new__(cls, delay_ns: int = 0, fail_every: int = 0) -> NullSession: ...

@final
class GraphSession:
    def __new__(cls, asked: object, script: str, seed: int, number: int) -> GraphSession: ...

@final
class JdbcSession:
    def __new__(cls, config: str, script: str, seed: int, number: int) -> JdbcSession: ...

@final
class MysqlSession:
    def __new__(cls, config: str, script: str, seed: int, number: int) -> MysqlSession: ...

@final
class Player:
    def __new__(cls, script: str, seed: int, session: int) -> Player: ...
    def begin(self, operation: int) -> None: ...
    def next(self) -> tuple[int, list[object]] | None: ...
    def answered(self, statement: int, rows: Sequence[Sequence[object]], count: int) -> None: ...

@final
class PostgresSession:
    def __new__(
        cls, dsn: str, script: str, seed: int, number: int, passing: Sequence[str] = ()
    ) -> PostgresSession: ...

@final
class PythonSession:
    def __new__(cls, asked: object, script: str, seed: int, number: int) -> PythonSession: ...

@final
class SparqlSession:
    def __new__(cls, config: str, script: str, seed: int, number: int) -> SparqlSession: ...

@final
class SqliteSession:
    def __new__(cls, config: str, script: str, seed: int, number: int) -> SqliteSession: ...
    def counts(self) -> list[tuple[str, int]]: ...
    def close(self) -> None: ...

def drive(
    plan: str,
    sessions: Sequence[object],
    raw_dir: str | PathLike[str],
    cancel: CancelFlag,
    tick: Callable[[str, int, int], object],
    metered: Sequence[int] | None = None,
    observer: Callable[[int, str], object] | None = None,
    device_stat: str | PathLike[str] | None = None,
    listener: Callable[[str, int, int], bool] | None = None,
    first_session: int = 0,
    gate: Callable[[str], int | None] | None = None,
) -> str: ...
def sparql_load(config: str, target: str, rows: object, streams: int) -> int: ...
def sparql_text(text: str, values: Sequence[object]) -> str: ...
def sqlite_load(config: str, table: str, rows: object) -> int: ...
def program_marks(name: str) -> list[str]: ...
def program_reads_rows(name: str) -> bool: ...
def program_receipt(name: str) -> list[str]: ...
def mysql_load(config: str, table: str, rows: object, streams: int) -> tuple[int, str]: ...
def postgres_copy(config: str, table: str, rows: object, streams: int | None) -> int: ...

GENERATORS_VERSION: int

@final
class TableStream:
    def __new__(
        cls,
        generator: str,
        table: str,
        scale: float,
        threads: int,
        sets: int = 0,
        seed: int | None = None,
    ) -> TableStream: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any: ...
    def end(self) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def rows_expected(self) -> int: ...
    @property
    def checksum(self) -> str: ...

def refresh_sets_max(scale: float) -> int: ...
def render_operation(
    template: str,
    operation: str,
    rules: str,
    lists: str,
    scale: float,
    seed: int | None = None,
    stream: int = 0,
    sequence: int | None = None,
) -> tuple[str, str]: ...
def resident_bytes(path: str | PathLike[str]) -> int: ...

@final
class ReadsMeter:
    def __new__(cls, pids: Sequence[int]) -> ReadsMeter: ...
    def read(self) -> tuple[int | None, int | None]: ...

@final
class Sampler:
    def __new__(
        cls,
        kind: str,
        raw_dir: str | PathLike[str],
        interval_ns: int,
        followed: Sequence[tuple[int, str]] = ...,
        proc_root: str | PathLike[str] | None = None,
        core_share_max: float | None = None,
    ) -> Sampler: ...
    def stop(self) -> SamplerReport: ...

class SamplerReport(TypedDict):
    samples: int
    cpu_ns: int
    longest_ns: int
    interval_ns: int
    error: str | None
    notes: list[str]

@final
class RequestTracer:
    def __new__(cls, raw_dir: str | PathLike[str]) -> RequestTracer: ...
    def stop(self) -> ProfileReport: ...

@final
class Profiler:
    def __new__(
        cls,
        raw_dir: str | PathLike[str],
        pids: Sequence[int],
        frequency_hz: int,
        copied_bytes: int | None = None,
        may_watch_all: bool = True,
        kernel: bool = True,
    ) -> Profiler: ...
    def granted(self) -> ProfileGranted: ...
    def stop(self) -> ProfileReport: ...

class ProfileGranted(TypedDict):
    event: str
    frequency_hz: int
    kernel: bool
    stacks: str
    copied_bytes: int | None
    whole_machine: bool

class ProfileReport(TypedDict):
    samples: int
    cpu_ns: int
    longest_ns: int
    error: str | None
    notes: list[str]

@final
class CeilingSweep:
    def __new__(cls, raw_dir: str | PathLike[str], seed: int) -> CeilingSweep: ...
    def open(self, directory: str | PathLike[str], size_bytes: int) -> TrialFileFacts: ...
    def fill(self, at_most_bytes: int) -> int: ...
    def disk(self, trial: str) -> int: ...
    def memory(self, trial: str) -> int: ...
    def core(self, trial: str) -> int: ...
    def finish(self) -> None: ...

class TrialFileFacts(TypedDict):
    size_bytes: int
    direct_align_bytes: int
    device_number: int

def io_uring_refusal() -> str | None: ...

class Slower:
    def __new__(
        cls,
        raw_dir: str | PathLike[str],
        processes: Sequence[tuple[int, int]],
        cpu: float,
        disk: float,
        roots_listen: bool,
        data: str | PathLike[str] | None = None,
    ) -> Slower: ...
    def stop(self) -> SlowerReport: ...

class SlowerReport(TypedDict):
    looks: int
    stops: int
    taken_cpu_ns: int
    all_cpu_ns: int
    taken_disk_ns: int
    owed_ns: int
    stopped_ns: int
    cpu_ns: int
    longest_ns: int
    error: str | None

class Stream:
    def __new__(
        cls, raw_dir: str | PathLike[str], name: str, columns: Sequence[tuple[str, str, bool]]
    ) -> Stream: ...
    def push(self, *row: object) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

def write_no_events(raw_dir: str | PathLike[str]) -> None: ...
def record_tables() -> list[tuple[str, str, list[tuple[str, str, bool, str]]]]: ...
