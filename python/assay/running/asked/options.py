"""The options of a run that must be parsed, and all options together.

Each option is declared only once: here, or in `plain_options` if it needs no parsing. An option
that must be parsed (`30s`, `duckdb@1.1`) is a text in `RunOptions` and a parsed value in the
request, see `running.asked.understanding`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationError

from assay.engines.durability import LEVELS
from assay.model.errors import UsageError, suggestion
from assay.model.language import LANGUAGES
from assay.running.asked.agent_options import FleetTls
from assay.running.asked.declaring import Group, Needs, Option, Table, Text, Texts
from assay.running.asked.parsing import PARAMETERS
from assay.running.asked.plain_options import PlainOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails


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
            "Engine to test, such as postgresql or postgresql@16 (see `assay engines`) [default:"
            " duckdb, oxigraph for SPARQL, or the engine that --dsn names].",
            "NAME[@VERSION]",
        ),
    ] = None
    scale: Annotated[
        float | None,
        Option(
            Group.ASKED,
            "Amount of data, such as 0.1 for SF 0.1; or --NAME with the workload's own name for"
            " the scale, such as --warehouses [default: the workload's scale].",
            "NUMBER",
        ),
    ] = None
    operation: Annotated[
        Texts,
        Option(
            Group.ASKED,
            "Run only this operation (a query or a transaction type); can be repeated.",
            "NAME",
        ),
    ] = ()
    remove: Annotated[
        Texts,
        Option(
            Group.ASKED,
            "Remove a part of every query to see what the part costs: a clause, such as order-by,"
            " or 'computation': groups, aggregates, arithmetic and order. NAME/PART removes the"
            " part PART from operation NAME only. `assay workloads show WORKLOAD --operation NAME`"
            " lists the parts; can be repeated.",
            "computation|[NAME/]PART",
        ),
    ] = ()
    parameters: Annotated[
        str | None,
        Option(
            Group.ASKED,
            "Parameter values: 'default' (those of the specification's validation) or 'drawn'"
            " from --seed [default: 'drawn' with --test, otherwise 'default'].",
            choices=PARAMETERS,
        ),
    ] = None
    language: Annotated[
        str | None,
        Option(
            Group.ASKED,
            "Query language [default: the first language of the workload that the engine"
            " understands].",
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
        str | None,
        Option(
            Group.SERVER,
            "Directory of the server's programs, such as /usr/lib/postgresql/16/bin.",
            "DIR",
        ),
    ] = None
    settings: Annotated[
        Table,
        Field(alias="set"),
        Option(
            Group.SERVER,
            "Change a setting of the engine, such as work_mem=64MB; can be repeated.",
            "NAME=VALUE",
        ),
    ] = Field(default_factory=dict)
    durability: Annotated[
        str | None,
        Option(
            Group.SERVER,
            "What a committed transaction survives: full = a crash of the host, relaxed = a crash"
            " of the engine, none = no crash (see `assay engines show`) [default: full, if the"
            " engine has levels].",
            choices=LEVELS,
        ),
    ] = None
    without: Annotated[
        Texts,
        Option(
            Group.SERVER,
            "Switch off a technique of the planner or the executor, such as hash_join of"
            " PostgreSQL (see `assay engines show`); can be repeated.",
            "TECHNIQUE",
        ),
    ] = ()
    buffer: Annotated[
        str | None,
        Option(
            Group.SERVER,
            "Size of the engine's own cache of data, such as 1GiB (shared_buffers,"
            " innodb_buffer_pool_size).",
            "SIZE",
        ),
    ] = None
    rate: Annotated[
        float | None,
        Option(
            Group.LOAD,
            "Number of operations that become due per second, whether or not a client is free (an"
            " open load). The latency of an operation includes its wait for a free client.",
            "NUMBER",
            needs=Needs.DRAWN,
        ),
    ] = None
    until_steady: Annotated[
        bool,
        Option(
            Group.LOAD,
            "Continue beyond --mixes until throughput and reads from disk no longer change; the"
            " report says if the run never became steady.",
            needs=Needs.SEQUENCE,
        ),
    ] = False
    time: Annotated[
        str, Option(Group.LOAD, "Duration of the measured part.", "TIME", needs=Needs.MIX)
    ] = "30s"
    warmup: Annotated[
        str,
        Option(
            Group.LOAD, "Duration of the warm-up before the measured part.", "TIME", needs=Needs.MIX
        ),
    ] = "5s"
    retries: Annotated[
        int | None,
        Option(
            Group.LOAD,
            "How often an operation is repeated after a temporary error, such as a deadlock"
            " [default: the workload's number of retries].",
            needs=Needs.MIX,
        ),
        Field(ge=0, le=1_000_000),
    ] = None
    kill: Annotated[
        str | None,
        Option(
            Group.LOAD,
            "Kill the engine with SIGKILL this long after the measured part began, restart the"
            " engine, and search its database for every acknowledged write.",
            "TIME",
            needs=Needs.DRAWN,
        ),
    ] = None
    min_time: Annotated[
        str,
        Option(
            Group.LOAD,
            "Execute all queries in their order, again and again, for at least this long.",
            "TIME",
            needs=Needs.ORDER,
        ),
    ] = "20s"
    timeout: Annotated[
        str,
        Option(
            Group.LOAD,
            "Cancel an operation after this time, and count it as failed; 0s: no limit.",
            "TIME",
        ),
    ] = "0s"
    sorted_by: Annotated[
        Texts,
        Field(alias="sorted"),
        Option(
            Group.DATA,
            "Sort the rows of a table by these columns before the table is loaded; can be"
            " repeated.",
            "TABLE=COLUMN,...",
        ),
    ] = ()
    load_order: Annotated[
        str | None,
        Option(
            Group.DATA,
            "Load the tables one after another in this order; 'rest' stands for all other tables,"
            " which otherwise come last.",
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
            "Data in memory at the start: cold = none; os-warm = the data files, in the page"
            " cache; loaded = the data that loading left there; hot = the data that N untimed"
            " executions of all queries read [default: hot; os-warm with --test].",
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
            "Put the data on a loop device that only this run uses, with its own read-ahead,"
            " counters and limits (needs --allow-host-changes).",
            "own[:SIZE]",
        ),
    ] = None
    limit: Annotated[
        Table,
        Option(
            Group.HOST,
            "Limit a resource of the engine: cpu=2.5 (number of cores), cpus=0-3 (which CPUs),"
            " memory=4GiB, read-iops=, write-iops= (requests a second), read-rate=, write-rate="
            " (bytes a second); can be repeated.",
            "NAME=VALUE",
        ),
    ] = Field(default_factory=dict)
    slow: Annotated[
        Table,
        Option(
            Group.HOST,
            "Make the engine's cpu or disk slower, to measure how much time depends on this"
            " resource: cpu=2 is half the speed. Assay pauses the engine's processes for short"
            " times; can be repeated.",
            "NAME=FACTOR",
        ),
    ] = Field(default_factory=dict)
    pin: Annotated[
        str | None,
        Option(
            Group.HOST,
            "CPUs of the engine and of the client: CPU numbers, a NUMA node (`node0`), or `rest`"
            " for all CPUs that the other side does not use.",
            "engine=0,client=rest",
        ),
    ] = None
    probes: Annotated[
        str,
        Option(
            Group.OBSERVATION,
            "Probes that take samples during the run: all, none, or a list such as system,disks.",
            "all|none|NAME,NAME",
        ),
    ] = "all"
    probe_interval: Annotated[
        str,
        Option(
            Group.OBSERVATION,
            "Time between two samples of CPU, memory, disks and the engine's counters.",
            "TIME",
        ),
    ] = "100ms"
    profile: Annotated[
        bool,
        Option(
            Group.OBSERVATION,
            "Sample which functions of the engine use CPU time; `assay explain` shows them.",
        ),
    ] = False
    profile_hz: Annotated[
        int,
        Option(Group.OBSERVATION, "Number of CPU samples in a second of CPU time."),
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
