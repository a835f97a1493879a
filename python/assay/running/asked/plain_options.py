"""The options of a run that need no parsing, each declared only here.

A `RunRequest` has these fields as a user writes them. All other options are in `options`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from assay.running.asked.agent_options import EngineHostName, FleetPlain
from assay.running.asked.declaring import Group, Needs, Option, Text
from assay.running.asked.parsing import (
    CLIENTS_MAX,
    COPIES_MAX,
    PASSES_MAX,
    SEED_MAX,
    STATEMENTS,
    STREAMS_MAX,
    TESTS,
    number_of_clients,
)


class PlainOptions(BaseModel):
    """Options that need no parsing: a flag, a number, a name."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )

    dsn: Annotated[
        str | None,
        Option(
            Group.SERVER,
            "Address of a running server, such as postgresql://user@host/database; its password"
            " can come from the environment or a file.",
            "ADDRESS",
        ),
    ] = None
    fleet: Annotated[
        Text | None,
        Option(
            Group.SERVER,
            "Generate the load from several agents: N agents on this host, or agents on other"
            " hosts. Agents on other hosts connect to tls://HOST:PORT (needs --fleet-tls) or"
            " tcp://HOST:PORT (needs --fleet-plain); see `assay agent`.",
            "N|[N@]tls://HOST:PORT",
        ),
    ] = None
    fleet_plain: FleetPlain = False
    engine_host: EngineHostName = None
    keep_data: Annotated[
        bool,
        Option(
            Group.SERVER,
            "With --dsn: keep the tables that Assay loaded, so that the next run need not load"
            " the data again.",
        ),
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
            "Test of the specification: power, throughput, full (both, twice), or steady (the"
            " power test until its times stay the same).",
            choices=TESTS,
        ),
    ] = None
    streams: Annotated[
        int | None,
        Option(
            Group.LOAD,
            "Number of concurrent query streams in the throughput test [default: the"
            " specification's minimum].",
            needs=Needs.TEST,
        ),
        Field(ge=1, le=STREAMS_MAX),
    ] = None
    refresh: Annotated[
        bool,
        Option(
            Group.LOAD,
            "Execute the refresh functions of the test: inserts and deletes beside the queries.",
            needs=Needs.TEST,
        ),
    ] = True
    refresh_batches: Annotated[
        int,
        Option(
            Group.LOAD,
            "Number of transactions that a refresh function is divided into; 0: one transaction"
            " for each order.",
            needs=Needs.TEST,
        ),
        Field(ge=0),
    ] = 1
    clients: Annotated[
        int | None,
        Option(
            Group.LOAD,
            "Number of concurrent sessions [default: 1 for a mix, that is, for operations that"
            " are drawn at random by their shares].",
            "N",
            parse=number_of_clients,
        ),
        Field(ge=1, le=CLIENTS_MAX),
    ] = None
    think_time: Annotated[
        bool,
        Option(
            Group.LOAD,
            "Clients pause before and after each operation, as people at terminals do (TPC-C:"
            " keying and think time). With --think-time, the number of clients equals the number"
            " of the workload's terminals.",
            needs=Needs.DRAWN,
        ),
    ] = False
    as_recorded: Annotated[
        bool,
        Option(
            Group.LOAD,
            "Repeat what `assay capture` recorded: each execution with its recorded values, at"
            " its recorded time. A replay has no warm-up, and --time ends it early.",
            needs=Needs.DRAWN,
        ),
    ] = False
    speed: Annotated[
        float,
        Option(
            Group.LOAD,
            "With --as-recorded: speed relative to the recorded times; 2 is twice as fast.",
            "FACTOR",
            needs=Needs.DRAWN,
        ),
        Field(gt=0),
    ] = 1.0
    pipeline: Annotated[
        bool,
        Option(
            Group.LOAD,
            "Send a statement before the answers to earlier ones have arrived, unless the"
            " statement needs these answers.",
            needs=Needs.MIX,
        ),
    ] = False
    statements: Annotated[
        str | None,
        Option(
            Group.LOAD,
            "'prepared': prepare each statement once in a session; 'text': send its text, so that"
            " the engine plans it at each execution [default: prepared in a mix].",
            choices=STATEMENTS,
        ),
    ] = None
    mixes: Annotated[
        int | None,
        Option(
            Group.LOAD,
            "Number of measured mixes. A mix is one execution of a client's sequence of"
            " operations [default: the workload's number of mixes, or as many as --time allows].",
            needs=Needs.SEQUENCE,
        ),
        Field(ge=1, le=PASSES_MAX),
    ] = None
    warmup_mixes: Annotated[
        int | None,
        Option(
            Group.LOAD,
            "Number of mixes that are executed before the measured mixes.",
            needs=Needs.SEQUENCE,
        ),
        Field(ge=0, le=PASSES_MAX),
    ] = None
    mixes_max: Annotated[
        int | None,
        Option(
            Group.LOAD,
            "With --until-steady: end after this many mixes even if the run is not steady. A mix"
            " is one execution of a client's sequence [default: 10 times --mixes, at least 100 for"
            " each client].",
            needs=Needs.SEQUENCE,
        ),
        Field(ge=1, le=PASSES_MAX),
    ] = None
    seed: Annotated[
        int, Option(Group.LOAD, "Seed of all random choices."), Field(ge=0, le=SEED_MAX)
    ] = 1
    foreign_keys: Annotated[
        bool, Option(Group.DATA, "Create the workload's foreign keys in the loaded tables.")
    ] = False
    copies: Annotated[
        int,
        Option(
            Group.HOST,
            "Take this many snapshots of the device while the workload runs, recover the database"
            " from each snapshot, and search it for the acknowledged writes (needs --device own).",
            needs=Needs.DRAWN,
        ),
        Field(ge=0, le=COPIES_MAX),
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
            "Trace every request to block devices; the report shows how many reads were"
            " sequential (needs root).",
        ),
    ] = False
    plans: Annotated[
        bool,
        Option(
            Group.OBSERVATION,
            "Get the plan of each operation after the measured part. Capturing the plans takes"
            " about as long as executing every operation once.",
        ),
    ] = True
