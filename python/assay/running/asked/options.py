"""The options of a run, each declared only here.

A `RunRequest` also has the fields of `PlainOptions`, which need no parsing. Options that must be
parsed (`30s`, `duckdb@1.1`) are texts in `RunOptions` and parsed values in the request, see
`running.asked.understanding`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.engines.durability import LEVELS
from assay.model.errors import UsageError, suggestion
from assay.model.language import LANGUAGES
from assay.running.asked.agent_options import EngineHostName, FleetPlain, FleetTls
from assay.running.asked.declaring import Group, Needs, Option, Table, Text, Texts
from assay.running.asked.parsing import (
    PARAMETERS,
    SEED_MAX,
    STATEMENTS,
    TESTS,
    number_of_clients,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails


class PlainOptions(BaseModel):
    """Options that need no parsing: a flag, a number, a name."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )

    dsn: Annotated[
        str | None,
        Option(
            Group.SERVER, "Address of a running server, as its own clients write it.", "ADDRESS"
        ),
    ] = None
    fleet: Annotated[
        Text | None,
        Option(
            Group.SERVER,
            "Generate the load from several agents: N on this host, or those of other hosts that"
            " connect to this address (see `assay agent`).",
            "N|[N@]tcp://HOST:PORT",
        ),
    ] = None
    fleet_plain: FleetPlain = False
    engine_host: EngineHostName = None
    keep_data: Annotated[
        bool, Option(Group.SERVER, "With --dsn: leave the tables for the next run.")
    ] = False
    allow_writes: Annotated[
        bool,
        Option(Group.SERVER, "With --dsn: allow statements that write into existing tables."),
    ] = False
    roll_back: Annotated[
        bool,
        Option(
            Group.SERVER,
            "With --dsn: run each operation in a transaction and roll it back.",
        ),
    ] = False
    test: Annotated[
        str | None,
        Option(
            Group.LOAD,
            "A test of the specification: power, throughput, both twice (full), or power"
            " until passes are alike (steady).",
            choices=TESTS,
        ),
    ] = None
    streams: Annotated[
        int | None,
        Option(
            Group.LOAD,
            "Query streams of the throughput test [default: the specification's minimum].",
            needs=Needs.TEST,
        ),
        Field(ge=1),
    ] = None
    refresh: Annotated[
        bool, Option(Group.LOAD, "Play the refresh functions of a test.", needs=Needs.TEST)
    ] = True
    refresh_batches: Annotated[
        int,
        Option(
            Group.LOAD,
            "Number of transactions of each refresh function; 0: one for each order.",
            needs=Needs.TEST,
        ),
        Field(ge=0),
    ] = 1
    clients: Annotated[
        int | None,
        Option(
            Group.LOAD,
            "Number of concurrent sessions that draw from the mix [default: 1 for a mix].",
            "N",
            parse=number_of_clients,
        ),
        Field(ge=1),
    ] = None
    think_time: Annotated[
        bool,
        Option(
            Group.LOAD,
            "Clients pause before and after each operation, as people at terminals do (TPC-C:"
            " keying and think time). There are as many clients as the workload has terminals.",
            needs=Needs.DRAWN,
        ),
    ] = False
    as_recorded: Annotated[
        bool,
        Option(
            Group.LOAD,
            "Play what `assay capture` recorded, each execution with its values when it began;"
            " --time then ends it early, and there is no warm-up.",
            needs=Needs.DRAWN,
        ),
    ] = False
    speed: Annotated[
        float,
        Option(
            Group.LOAD,
            "With --as-recorded: factor of speed, such as 2 for twice as fast as recorded.",
            "FACTOR",
            needs=Needs.DRAWN,
        ),
        Field(gt=0),
    ] = 1.0
    pipeline: Annotated[
        bool,
        Option(
            Group.LOAD,
            "Send statements before earlier answers arrive, if they do not need them.",
            needs=Needs.MIX,
        ),
    ] = False
    statements: Annotated[
        str | None,
        Option(
            Group.LOAD,
            "Statements are 'prepared' once a session, or sent as 'text' that is planned at each"
            " execution [default: prepared in a mix].",
            choices=STATEMENTS,
        ),
    ] = None
    mixes: Annotated[
        int | None,
        Option(
            Group.LOAD,
            "Number of measured mixes, if each client plays them in order [default: the"
            " workload's, or as long as --time says].",
            needs=Needs.SEQUENCE,
        ),
        Field(ge=1),
    ] = None
    warmup_mixes: Annotated[
        int | None,
        Option(
            Group.LOAD,
            "Number of mixes that are played before the measured ones.",
            needs=Needs.SEQUENCE,
        ),
        Field(ge=0),
    ] = None
    mixes_max: Annotated[
        int | None,
        Option(
            Group.LOAD,
            "With --until-steady: maximum number of mixes [default: 10 times --mixes, or 100 a"
            " client if that is more].",
            needs=Needs.SEQUENCE,
        ),
        Field(ge=1),
    ] = None
    seed: Annotated[
        int, Option(Group.LOAD, "Seed of all random choices."), Field(ge=0, le=SEED_MAX)
    ] = 1
    foreign_keys: Annotated[
        bool, Option(Group.DATA, "Load the data with the workload's foreign keys.")
    ] = False
    copies: Annotated[
        int,
        Option(
            Group.HOST,
            "Take this many snapshots of the device during the load, recover each, and compare it"
            " with the acknowledged writes (needs --device own).",
            needs=Needs.DRAWN,
        ),
        Field(ge=0),
    ] = 0
    allow_host_changes: Annotated[
        bool,
        Option(
            Group.HOST,
            "Allow changes that affect the whole host: --read-ahead, --device, and dropping all"
            " caches for --state cold (needs root).",
        ),
    ] = False
    block_trace: Annotated[
        bool,
        Option(
            Group.OBSERVATION,
            "Trace every request of block devices: the report shows how contiguous reads were"
            " (needs root).",
        ),
    ] = False
    plans: Annotated[
        bool,
        Option(
            Group.OBSERVATION,
            "Ask each operation for its plan, after the measured part: takes about one more pass.",
        ),
    ] = True


class RunOptions(PlainOptions):
    """All options of a run, as a user writes them.

    Omitted options have their defaults.
    """

    # The workload is the command's argument, and a key of a study.
    workload: Annotated[
        str | None, Field(description="A workload, or a folder of .sql or .rq files.")
    ] = None
    engine: Annotated[
        str | None,
        Option(
            Group.ASKED,
            "An engine (see `assay engines`) [default: duckdb, oxigraph for SPARQL, or what --dsn"
            " names].",
            "NAME[@VERSION]",
        ),
    ] = None
    scale: Annotated[
        float | None,
        Option(
            Group.ASKED,
            "Scale of the data; or use the workload's own name for it, such as --warehouses"
            " [default: the workload's].",
            "NUMBER",
        ),
    ] = None
    operation: Annotated[
        Texts,
        Option(Group.ASKED, "Run this operation only; can be repeated.", "NAME"),
    ] = ()
    remove: Annotated[
        Texts,
        Option(
            Group.ASKED,
            "Remove this part from each query, or from the operation before the slash (see `assay"
            " workloads show WORKLOAD --operation NAME`); can be repeated.",
            "computation|[NAME/]PART",
        ),
    ] = ()
    parameters: Annotated[
        str | None,
        Option(
            Group.ASKED,
            "Parameter values: 'default' (those of the specification's validation) or 'drawn'"
            " from --seed [default: drawn in a test].",
            choices=PARAMETERS,
        ),
    ] = None
    language: Annotated[
        str | None,
        Option(
            Group.ASKED,
            "Query language [default: the workload's first one that the engine speaks].",
            choices=LANGUAGES,
        ),
    ] = None
    driver: Annotated[
        Texts,
        Option(
            Group.SERVER,
            "With --dsn jdbc:...: the JDBC driver's jar, or its Maven coordinates; can be"
            " repeated.",
            "FILE.jar|GROUP:ARTEFACT:VERSION",
        ),
    ] = ()
    fleet_tls: FleetTls = None
    bin_dir: Annotated[
        str | None, Option(Group.SERVER, "Directory of the server's programs.", "DIR")
    ] = None
    settings: Annotated[
        Table,
        Field(alias="set"),
        Option(Group.SERVER, "A setting of the engine; can be repeated.", "NAME=VALUE"),
    ] = {}
    durability: Annotated[
        str | None,
        Option(
            Group.SERVER,
            "What a committed transaction survives (see `assay engines show`) [default: full,"
            " where the engine has levels].",
            choices=LEVELS,
        ),
    ] = None
    without: Annotated[
        Texts,
        Option(
            Group.SERVER,
            "Switch off a planner or executor technique (see `assay engines show`); can be"
            " repeated.",
            "TECHNIQUE",
        ),
    ] = ()
    buffer: Annotated[
        str | None, Option(Group.SERVER, "Size of the engine's own cache of data.", "SIZE")
    ] = None
    rate: Annotated[
        float | None,
        Option(
            Group.LOAD,
            "Operations a second that are due, whether or not a client is free (an open load).",
            "NUMBER",
            needs=Needs.DRAWN,
        ),
    ] = None
    until_steady: Annotated[
        bool,
        Option(
            Group.LOAD,
            "Continue after these mixes until throughput and reads are steady, or report that"
            " they were not.",
            needs=Needs.SEQUENCE,
        ),
    ] = False
    time: Annotated[str, Option(Group.LOAD, "Measured time of a mix.", "TIME", needs=Needs.MIX)] = (
        "30s"
    )
    warmup: Annotated[
        str, Option(Group.LOAD, "Warm-up time before the measured part.", "TIME", needs=Needs.MIX)
    ] = "5s"
    retries: Annotated[
        int | None,
        Option(
            Group.LOAD,
            "Attempts beyond the first after a temporary error [default: the workload's].",
            needs=Needs.MIX,
        ),
        Field(ge=0, le=1_000_000),
    ] = None
    kill: Annotated[
        str | None,
        Option(
            Group.LOAD,
            "Kill the engine with SIGKILL this long after the measured part began, restart it,"
            " and look for every acknowledged write.",
            "TIME",
            needs=Needs.DRAWN,
        ),
    ] = None
    min_time: Annotated[
        str,
        Option(
            Group.LOAD,
            "Repeat passes over the queries for at least this long.",
            "TIME",
            needs=Needs.ORDER,
        ),
    ] = "20s"
    timeout: Annotated[
        str,
        Option(
            Group.LOAD,
            "Time limit of an operation, which is then cancelled and counts as failed; 0s: none.",
            "TIME",
        ),
    ] = "0s"
    sorted_by: Annotated[
        Texts,
        Field(alias="sorted"),
        Option(
            Group.DATA,
            "Sort a table's rows by columns before they are loaded; can be repeated.",
            "TABLE=COLUMN,...",
        ),
    ] = ()
    load_order: Annotated[
        str | None,
        Option(
            Group.DATA,
            "Load tables one after another in this order; 'rest' stands for all others, which"
            " come last by default.",
            "TABLE,...",
        ),
    ] = None
    prepare: Annotated[
        Texts,
        Option(
            Group.DATA,
            "SQL file to run on the loaded data before anything is timed; can be repeated.",
            "FILE.sql",
        ),
    ] = ()
    state: Annotated[
        str | None,
        Option(
            Group.DATA,
            "Data in memory at the start: none (cold), the files (os-warm), as loaded, or all"
            " after N untimed passes (hot) [default: hot; the files for a test].",
            "cold|os-warm|loaded|hot[:N]",
        ),
    ] = None
    read_ahead: Annotated[
        Text | None,
        Option(
            Group.HOST,
            "Read-ahead of the device that holds the data, for this run (needs"
            " --allow-host-changes).",
            "0|8KiB|...",
        ),
    ] = None
    device: Annotated[
        str | None,
        Option(
            Group.HOST,
            "Put the data on a loop device of this run alone, with its own read-ahead, counters"
            " and limits (needs --allow-host-changes).",
            "own[:SIZE]",
        ),
    ] = None
    limit: Annotated[
        Table,
        Option(
            Group.HOST,
            "Limit a resource of the engine: cpu (cores), cpus, read-iops, write-iops, read-rate,"
            " write-rate (bytes a second) or memory; can be repeated.",
            "NAME=VALUE",
        ),
    ] = {}
    slow: Annotated[
        Table,
        Option(
            Group.HOST,
            "Slow cpu or disk for the engine by this factor, by pausing its processes again and"
            " again; can be repeated.",
            "NAME=FACTOR",
        ),
    ] = {}
    pin: Annotated[
        str | None,
        Option(
            Group.HOST,
            "CPUs of the engine and of the client, each as numbers, a NUMA node (`node0`), or"
            " `rest`: all that the other of the two does not have.",
            "engine=0,client=rest",
        ),
    ] = None
    probes: Annotated[
        str, Option(Group.OBSERVATION, "Which probes observe the run.", "all|none|NAME,NAME")
    ] = "all"
    probe_interval: Annotated[
        str, Option(Group.OBSERVATION, "Time between two samples of a probe.", "TIME")
    ] = "100ms"
    profile: Annotated[
        bool,
        Option(Group.OBSERVATION, "Take CPU samples of the engine: `assay explain` reads them."),
    ] = False
    profile_hz: Annotated[
        int,
        Option(Group.OBSERVATION, "How many CPU samples are taken in a second of CPU time."),
        Field(ge=1, le=10_000),
    ] = 499


def option_names() -> list[str]:
    """Return the keys of a run in study files."""
    return [field.alias or name for name, field in RunOptions.model_fields.items()]


def options_of(keys: Mapping[str, Any]) -> RunOptions:
    """Return the options with the values of these keys.

    Raises:
        UsageError: If a key is unknown, or a value has the wrong type. The error message names the
            most similar key.
    """
    try:
        return RunOptions.model_validate(dict(keys))
    except ValidationError as error:
        raise UsageError("; ".join(_error_text(detail) for detail in error.errors())) from error


def _error_text(error: ErrorDetails) -> str:
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"{key!r} is no option of a run; {suggestion(key, option_names())}"
    return f"{key}: {error['msg']}"
