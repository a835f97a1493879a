"""`assay run`: obtain, start, generate, load, warm up, measure, check, explain, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.executing import executed
from assay.cli.options import AsJson, RunsDir, exit_code, given, number_of_clients
from assay.cli.output import complain, console, say_json
from assay.cli.scale_name import SCALE, check_scale_name

EXAMPLES = """
\b
Examples:
  assay run tpch                               DuckDB, SF 1, half a minute
  assay run tpch --scale 0.1 --min-time 5s     a quick look
  assay run tpch --operation q01 --operation q06       these two only
  assay run tpch --operation q01 --remove computation  what reading alone takes
  assay run tpch --set threads=1 --set memory_limit=1GB
  assay run tpch --engine postgresql@18 --set work_mem=64MB
  assay run tpch --engine postgresql --without hash_join
  assay run tpch --engine postgresql --prepare indexes.sql     with SQL on the loaded data
  assay run tpch --dsn postgresql://user@localhost/db    a server that runs already
  assay run ./my-queries --dsn ...             a folder of .sql files is a workload
  assay run ./my-queries --dsn jdbc:... --driver x.jar   any database with a JDBC driver
  assay run tpch --engine postgresql --test full         power and throughput test, twice
  assay run tpch --test throughput --streams 3 --no-refresh
  assay run point-select --engine postgresql --clients 8 --time 30s
  assay run point-select --engine postgresql --clients 8 --rate 5000 --pin engine=0,client=1
  assay run tpcc --engine postgresql --warehouses 10 --clients 8 --time 60s
  assay run tpcc --engine mariadb --think-time --time 20m    tpmC, ten terminals a warehouse
  assay run oltp-read-write --engine postgresql --clients 8 --durability relaxed
  assay run tpcc --engine postgresql --clients 4 --kill 3s    is all there that was acknowledged?
  assay run tpch --engine postgresql --profile           with CPU samples
  assay run tpch --engine postgresql --state cold --buffer 256MB
  assay run tpch --engine postgresql --test full --state loaded --load-order lineitem,rest
  assay run tpch --sorted lineitem=l_shipdate            in another physical order
  assay run tpch --engine postgresql --limit cpu=0.5 --limit memory=512MB
  assay run tpch --engine postgresql --state cold --device own --read-ahead 0 --allow-host-changes
  assay run tpch --engine postgresql --slow cpu=2        what if the CPU were half as fast
  assay run bsbm                               SPARQL, on Oxigraph
  assay run bsbm --engine virtuoso --clients 16 --mixes 2000
  assay run bsbm --engine postgresql           the same questions in SQL
  assay run ./my-rq-files --dsn http://127.0.0.1:3030/ds/query    any SPARQL endpoint of this host
  assay run tpcc --dsn postgresql://user@db/test --clients 64 --fleet tls://driver-1:8786
                 --fleet-tls certs             three hosts drive, see `assay agent`
  assay run tpcc --dsn postgresql://user@db/test --clients 64 --fleet tls://driver-1:8786
                 --fleet-tls certs --engine-host db      probes on the server's host, too
  assay run point-select --engine postgresql --clients 8 --fleet 2   two drivers on this host
  assay run tpch --engine null                 what the laboratory itself costs

\b
Exit codes:
  0  done            2  failed or stopped, partial record kept
  1  wrong usage     3  invalid: wrong answers or failed operations
"""


def run(
    context: typer.Context,
    workload: Annotated[
        str,
        typer.Argument(
            help="A workload (see `assay workloads`), or a folder of .sql or .rq files."
        ),
    ],
    *,
    engine: Annotated[
        str | None,
        typer.Option(
            help="An engine (see `assay engines`) [default: duckdb, oxigraph for SPARQL, or what"
            " --dsn names].",
            metavar="NAME[@VERSION]",
        ),
    ] = None,
    dsn: Annotated[
        str | None,
        typer.Option(help="A server that runs already, as its own clients write it."),
    ] = None,
    driver: Annotated[
        list[str] | None,
        typer.Option(
            help="With --dsn jdbc:...: the JDBC driver's jar, or what Maven calls it; can be"
            " repeated.",
            metavar="FILE.jar|GROUP:ARTEFACT:VERSION",
        ),
    ] = None,
    fleet: Annotated[
        str | None,
        typer.Option(
            help="Drive from several hosts: N agents on this one, or agents of others that meet"
            " there (see `assay agent`).",
            metavar="N|[N@]tcp://HOST:PORT",
        ),
    ] = None,
    fleet_tls: Annotated[
        Path | None,
        typer.Option(
            help="With --fleet tls://...: folder with ca.pem, cert.pem and key.pem.", metavar="DIR"
        ),
    ] = None,
    fleet_plain: Annotated[
        bool,
        typer.Option(
            "--fleet-plain", help="Allow --fleet tcp://... over a network that is yours alone."
        ),
    ] = False,
    engine_host: Annotated[
        str | None,
        typer.Option(
            help="With --fleet tcp://... and --dsn: the agent on the server's host, which observes"
            " the server's processes there (these, or who listens on its port) and drives nothing.",
            metavar="NAME[:PID,...]",
        ),
    ] = None,
    keep_data: Annotated[
        bool, typer.Option("--keep-data", help="With --dsn: leave the tables for the next run.")
    ] = False,
    bin_dir: Annotated[
        Path | None, typer.Option(help="Take the server's programs from here.", metavar="DIR")
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            help="Scale of the data, or --NAME with the workload's own name of it, such as"
            " --warehouses [default: the workload's]."
        ),
    ] = None,
    operation: Annotated[
        list[str] | None,
        typer.Option(help="Play this operation only; can be repeated.", metavar="NAME"),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(
            help="Ask each query without this part of it, see `assay workloads show WORKLOAD"
            " --operation NAME`; can be repeated.",
            metavar="computation|PART",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            help="Switch off a technique of planner or executor (see `assay engines show`); can be"
            " repeated.",
            metavar="TECHNIQUE",
        ),
    ] = None,
    sorted_by: Annotated[
        list[str] | None,
        typer.Option(
            "--sorted",
            help="Sort a table's rows by columns before they are loaded; can be repeated.",
            metavar="TABLE=COLUMN,...",
        ),
    ] = None,
    load_order: Annotated[
        str | None,
        typer.Option(
            help="Load tables one after another in this order; 'rest' are all others, at the end"
            " where it is left out.",
            metavar="TABLE,...",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting of the engine; can be repeated.", metavar="NAME=VALUE"
        ),
    ] = None,
    durability: Annotated[
        str | None,
        typer.Option(
            help="What a transaction that committed survives (see `assay engines show`)"
            " [default: full, where the engine has levels].",
            metavar="full|relaxed|none",
        ),
    ] = None,
    prepare: Annotated[
        list[Path] | None,
        typer.Option(
            help="SQL that changes the loaded data before anything is timed; can be repeated.",
            metavar="FILE.sql",
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="A test as the specification has it: power, throughput, both twice (full), or"
            " power until passes are alike (steady).",
            metavar="power|throughput|full|steady",
        ),
    ] = None,
    streams: Annotated[
        int | None,
        typer.Option(
            help="Query streams of the throughput test [default: the specification's minimum].",
            min=1,
        ),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh/--no-refresh", help="Play the refresh functions of a test.")
    ] = True,
    refresh_batches: Annotated[
        int,
        typer.Option(help="Transactions of each refresh function; 0: one an order.", min=0),
    ] = 1,
    clients: Annotated[
        int | None,
        typer.Option(
            help="Sessions that draw from the mix [default: 1 for a mix].",
            parser=number_of_clients,
            metavar="INTEGER",
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(help="Operations a second that become due, whether or not one is free."),
    ] = None,
    think_time: Annotated[
        bool,
        typer.Option(
            "--think-time",
            help="Clients wait around operations as people at terminals do; then there are as many"
            " clients as the workload has terminals.",
        ),
    ] = False,
    foreign_keys: Annotated[
        bool,
        typer.Option("--foreign-keys", help="Load the data with the workload's foreign keys."),
    ] = False,
    pipeline: Annotated[
        bool,
        typer.Option(
            "--pipeline", help="Send statements that need no earlier answer before it has come."
        ),
    ] = False,
    language: Annotated[
        str | None,
        typer.Option(
            help="Ask in this language [default: the first of the workload's that the engine is"
            " asked in].",
            metavar="sql|sparql",
        ),
    ] = None,
    mixes: Annotated[
        int | None,
        typer.Option(
            help="How many mixes are measured, where each client plays them in order [default: the"
            " workload's, or as long as --time says].",
            min=1,
        ),
    ] = None,
    warmup_mixes: Annotated[
        int | None,
        typer.Option(help="How many mixes are played before those.", min=0),
    ] = None,
    until_steady: Annotated[
        bool,
        typer.Option(
            "--until-steady",
            help="Go on after these mixes until their throughput and what the engine reads for them"
            " are steady, or say that they were not.",
        ),
    ] = False,
    mixes_max: Annotated[
        int | None,
        typer.Option(
            help="With --until-steady: to how many mixes at most [default: 10 times as many, or"
            " 100 a client where that is more].",
            min=1,
        ),
    ] = None,
    time: Annotated[str, typer.Option(help="How long a mix is measured.")] = "30s",
    warmup: Annotated[str, typer.Option(help="How long it is played before that.")] = "5s",
    kill: Annotated[
        str | None,
        typer.Option(
            help="Kill the engine with SIGKILL so long after the measured part began, start it"
            " again, and look for all that it had acknowledged.",
            metavar="3s",
        ),
    ] = None,
    retries: Annotated[
        int | None,
        typer.Option(
            help="Attempts beyond the first after a temporary error [default: the workload's].",
            min=0,
        ),
    ] = None,
    min_time: Annotated[
        str, typer.Option(help="Passes over an order are repeated for at least this long.")
    ] = "20s",
    parameters: Annotated[
        str | None,
        typer.Option(
            help="'default' (the validation's) or 'drawn' from --seed [default: drawn in a test].",
            metavar="default|drawn",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.", min=0)] = 1,
    timeout: Annotated[
        str, typer.Option(help="An operation that takes longer is cancelled and failed; 0s: none.")
    ] = "0s",
    state: Annotated[
        str | None,
        typer.Option(
            help="What is in memory at the start: nothing, the files, what loading left, or all"
            " after N untimed passes [default: hot; the files for a test].",
            metavar="cold|os-warm|loaded|hot[:N]",
        ),
    ] = None,
    allow_host_changes: Annotated[
        bool,
        typer.Option(
            "--allow-host-changes",
            help="Allow what the whole host notices: --read-ahead, --device, and that --state cold"
            " drops all its caches (needs root).",
        ),
    ] = False,
    buffer: Annotated[
        str | None,
        typer.Option(help="Size of the engine's own cache of data.", metavar="SIZE"),
    ] = None,
    read_ahead: Annotated[
        str | None,
        typer.Option(
            help="Read-ahead of the device that holds the data, for this run (needs"
            " --allow-host-changes).",
            metavar="0|8KiB|...",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="Put the data on a loop device of this run alone: its read-ahead, counters and"
            " throttles are nobody else's (needs --allow-host-changes).",
            metavar="own[:SIZE]",
        ),
    ] = None,
    copies: Annotated[
        int,
        typer.Option(
            min=0,
            help="Copy what reached the device so often while a mix is measured, recover from each"
            " copy, and compare what is found with what was acknowledged (needs --device own).",
        ),
    ] = 0,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="What the engine may use at most: cpu (cores), cpus, read-iops, write-iops,"
            " read-rate, write-rate (bytes a second) or memory; can be repeated.",
            metavar="NAME=VALUE",
        ),
    ] = None,
    slow: Annotated[
        list[str] | None,
        typer.Option(
            help="Make a resource this many times slower for the engine, by stopping it: cpu or"
            " disk; can be repeated.",
            metavar="NAME=FACTOR",
        ),
    ] = None,
    pin: Annotated[
        str | None,
        typer.Option(
            help="CPUs of engine and client: numbers, a NUMA node (node0), or the rest.",
            metavar="engine=0,client=rest",
        ),
    ] = None,
    probes: Annotated[
        str, typer.Option(help="Which probes observe the run.", metavar="all|none|NAME,NAME")
    ] = "all",
    probe_interval: Annotated[
        str, typer.Option(help="Time between two samples of a probe.")
    ] = "100ms",
    profile: Annotated[
        bool,
        typer.Option(
            "--profile", help="Take CPU samples of the engine: `assay explain` reads them."
        ),
    ] = False,
    profile_hz: Annotated[
        int, typer.Option(help="Samples a second of CPU time.", min=1, max=10_000)
    ] = 499,
    block_trace: Annotated[
        bool,
        typer.Option(
            "--block-trace",
            help="Write down every request of block devices: the report tells how contiguous reads"
            " were (needs root).",
        ),
    ] = False,
    plans: Annotated[
        bool,
        typer.Option(
            "--plans/--no-plans",
            help="Ask each operation once more for its plan, after the measured part: about one"
            " pass longer.",
        ),
    ] = True,
    runs: RunsDir = None,
    all_operations: Annotated[
        bool, typer.Option("--all", help="Show all operations, not only the longest.")
    ] = False,
    strict: Annotated[bool, typer.Option(help="An 'unknown' verdict also ends with 3.")] = False,
    as_json: AsJson = False,
) -> None:
    """Runs a workload on an engine, checks and explains it, and writes a report."""
    from assay.cli.progress import Progress
    from assay.record.places import runs_dir
    from assay.running.asked.options import RunOptions, request_of
    from assay.running.asked.request import parse_settings
    from assay.running.execute import execute

    options = RunOptions(
        workload=workload,
        engine=engine,
        dsn=dsn,
        driver=tuple(driver or ()),
        fleet=fleet,
        fleet_tls=None if fleet_tls is None else str(fleet_tls),
        fleet_plain=fleet_plain,
        engine_host=engine_host,
        keep_data=keep_data,
        bin_dir=None if bin_dir is None else str(bin_dir),
        scale=scale,
        operation=tuple(operation or ()),
        remove=tuple(remove or ()),
        without=tuple(without or ()),
        sorted=tuple(sorted_by or ()),
        load_order=load_order,
        set=parse_settings(settings or []),
        durability=durability,
        prepare=tuple(str(file) for file in prepare or ()),
        test=test,
        streams=streams,
        refresh=refresh,
        refresh_batches=refresh_batches,
        clients=clients,
        rate=rate,
        think_time=think_time,
        foreign_keys=foreign_keys,
        pipeline=pipeline,
        language=language,
        mixes=mixes,
        warmup_mixes=warmup_mixes,
        until_steady=until_steady,
        mixes_max=mixes_max,
        time=time,
        warmup=warmup,
        kill=kill,
        retries=retries,
        min_time=min_time,
        parameters=parameters,
        seed=seed,
        timeout=timeout,
        state=state,
        allow_host_changes=allow_host_changes,
        buffer=buffer,
        read_ahead=read_ahead,
        device=device,
        copies=copies,
        limit=parse_settings(limit or [], "--limit"),
        slow=parse_settings(slow or [], "--slow"),
        pin=pin,
        probes=probes,
        probe_interval=probe_interval,
        profile=profile,
        profile_hz=profile_hz,
        block_trace=block_trace,
        plans=plans,
    )
    check_scale_name(context.meta[SCALE], workload)
    request = request_of(options, given(context))
    from assay.report.terminal.summary import render

    shown = console()
    document = executed(
        lambda progress: execute(request, runs_dir(runs), progress),
        Progress(shown),
        as_json=as_json,
    )
    render(document, all_operations=all_operations, console=shown)
    if as_json:
        say_json(document)
    code = exit_code(document["verdict"], strict=strict)
    if code:
        complain(f"the run is {document['verdict']}")
        raise typer.Exit(code)


run.__doc__ = f"{run.__doc__}\n{EXAMPLES}"
