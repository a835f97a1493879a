"""Command lines that no verb can carry out: a table for each verb, `{place}` being a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

# Longer than any name, and than what a person would read in a message.
LONG = "x" * 1_000_000
# Larger than the largest float; 16 times as many digits are more than Python reads.
HUGE = "9" * 320
# fmt: off
VERBS = (
    "run", "show", "report", "export", "explain", "runs", "answers", "ceiling",
    "compare", "durability", "observe", "plans", "study", "sweep", "tune", "agent",
    "cache", "capture", "doctor", "engines", "generate", "studies", "workloads", "diagnose",
    "size", "try", "whatif", "why",
)
# fmt: on
MIX = ("run", "point-select", "--engine", "null", "--time", "100ms", "--warmup", "0s")
QUERIES = ("run", "tpch", "--engine", "null", "--scale", "0.01", "--min-time", "100ms")

# What the options of a mix are given, each alone.
OF_A_MIX: Mapping[str, Sequence[str]] = {
    "--clients": ("0", "-1", "1.5", "abc", "99999999", "1e3", "9" * 30, "9" * 5000),
    "--time": ("0s", "-1s", "5 parsecs", "1e400s", "nan", "99999999999s", "0.0000000001s"),
    "--warmup": ("-1s", "later", "1e400s", "0.0000000001s"),
    "--rate": ("0", "-1", "nan", "inf", "1e18", "x", "1e-300"),
    "--seed": ("-1", str(2**64), "x"),
    "--timeout": ("-1s", "x"),
    "--retries": ("-1", "x", str(2**64)),
    "--set": ("novalue", "=1", "a\0=1", "a=\0", "no.such=1", LONG),
    "--limit": (
        *("cpu", "cpu=", "cpu=0", "cpu=nan", "memory=1", "memory=x", "colour=1", "cpu=1e300"),
        *(f"memory={HUGE}GB", f"memory={HUGE}", f"read-rate={HUGE}GB", "read-iops=" + "9" * 23),
    ),
    "--pin": (
        *("engine", "engine=", "engine=9999", "engine=0-", "moon=1"),
        *("client=0-300000000", "client=1-0", f"client={HUGE * 16}"),
    ),
    "--probe-interval": ("0s", "-1s", "x"),
    "--probes": ("none,all", "dissks"),
    "--state": ("warmish", "hot:0", "hot:x", "cold:1", "hot:4294967296", f"hot:{HUGE * 16}"),
    "--device": ("own:", "own:x", "own:-1GB", "own:1", "mine", f"own:{HUGE}GB"),
    "--read-ahead": ("-1", "x", "1PiB", HUGE, "999999999999GB"),
    "--slow": ("cpu", "cpu=0", "cpu=nan", "moon=2", "cpu=1e300"),
    "--fleet": (
        HUGE * 16,
        f"{HUGE * 16}@tcp://h:1",
        "0",
        "-1",
        "x",
        "tcp://",
        "tcp://:0",
        "tcp://h:99999",
        "2@",
        "http://x:1",
    ),
    "--kill": ("-1s", "x"),
    "--copies": ("-1", "x", "99999999999"),
    "--durability": ("fullest",),
    "--engine": ("@", "null@", "@1", "duckdbb", "null\0", "../null", LONG, "sqlite@1@2"),
    "--language": ("sqll",),
    "--parameters": ("some",),
    "--profile-hz": ("0", "-1", "x", "1e9"),
    "--buffer": ("-1", "x", "1XB", "nan", f"{HUGE}GB"),
    "--dsn": ("x", "mysql://h:port/", "jdbc:", "\0", "http://", "postgresql://[::1", "sqlite:"),
    "--bin-dir": ("/no/such", "/etc/passwd"),
    "--prepare": ("/no/such.sql", "/etc", "a\0b.sql", "/dev/null"),
    "--driver": ("x.jar", "a:b", "a:b:c:d:e"),
    "--warehouses": ("0", "x"),
    "--runs": ("/proc/self/nothing", "/etc/passwd", "/dev/null/x"),
}
OF_QUERIES: Mapping[str, Sequence[str]] = {
    "--scale": ("0", "-1", "nan", "inf", "x", "1e300"),
    "--min-time": ("-1s", "x"),
    "--operation": ("q99", "q1\n", "*", LONG),
    "--remove": ("nothing", "q01/", "/sort", "q99/sort"),
    "--sorted": ("lineitem", "lineitem=", "nosuch=x", "lineitem=nosuch", "=a"),
    "--load-order": ("lineitem,lineitem", "nosuch"),
    "--test": ("best",),
    "--streams": ("0", "x", "99999999999"),
    "--refresh-batches": ("-1", "x"),
    "--mixes": ("0", "x", "99999999999"),
    "--without": ("nosuch",),
    "--speed": ("0", "x", "-1"),
}
# Options that do not go together, or do nothing there.
CONTRADICTIONS = (
    *[
        (*MIX, *words.split())
        for words in (
            "--fleet 2 --pin engine=0",
            "--dsn postgresql://h/d --engine duckdb",
            "--dsn postgresql://h/d --engine postgresql --limit cpu=1",
            "--dsn postgresql://h/d --engine postgresql --state cold",
            "--rate 100 --min-time 1s",
            "--scale 2 --warehouses 3",
            "--copies 2",
            "--as-recorded",
            "--speed 2",
            "--streams 2",
            "--test power",
            "--roll-back",
            "--keep-data",
            "--allow-writes",
            "--fleet-plain",
            "--fleet-tls /tmp",
            "--engine-host x",
            "--mixes-max 3",
            "--driver org.postgresql:postgresql:42.7.4",
            "--refresh-batches 3",
            "--pipeline",
        )
    ],
    *[
        (*QUERIES, *words.split())
        for words in (
            "--clients 2",
            "--rate 10",
            "--think-time",
            "--kill 1s",
            "--as-recorded",
        )
    ],
)
# An empty path is not the current directory: an unset variable of the shell gives one.
EMPTY = (
    (*MIX, "--runs", ""),
    (*MIX, "--runs="),
    (*MIX, "--bin-dir", ""),
    (*MIX, "--prepare", ""),
    ("run", "point-select", "--engine", "jdbc", "--dsn", "jdbc:x:y", "--driver", ""),
    ("show", "latest", "--runs", ""),
    ("report", "latest", "--out", ""),
    ("explain", "--operations", ""),
    ("ceiling", "--quick", "--dir", ""),
    ("generate", "tpch", "--scale", "0.01", "--out", ""),
    ("capture", "--out", "", "--log", "/etc/passwd"),
    ("capture", "--out", "{place}/o", "--log", ""),
    ("agent", "tls://127.0.0.1:1", "--tls", ""),
    ("studies", "new", ""),
    ("workloads", "new", ""),
    ("cache", "prune", "--keep", ""),
)
# Settings that would end in an error of Python, or in an engine that starts threads without end.
SETTINGS = (
    ("run", "point-select", "--engine", "duckdb", "--set", "threads=99999999999"),
    ("run", "point-select", "--engine", "duckdb", "--set", "worker_threads=1e9"),
    ("run", "point-select", "--engine", "sqlite", "--set", f"cache_size={HUGE * 16}"),
    ("run", "point-select", "--engine", "sqlite", "--set", f"cache_size={HUGE * 16}MiB"),
    ("run", "point-select", "--engine", "sqlite", "--set", f"synchronous={HUGE * 16}"),
)
# Verb by verb: a line each, split at blanks; '' is an empty argument.
WORDS = """
run
run ''
run no-such-workload
run point-selec
run /etc/passwd
run /no/such
run point-select tpch
run ../tpch
run --
run tpch --scale
run --json
nosuchverb
''
--nosuch
--json
show nosuch
show ''
show /etc
show latest latest
show ../..
show --all=yes
report nosuch
export nosuch
export latest --to xls
export --to ''
explain nosuch
explain --against nosuch
explain --operations /no/such
explain --style poem
runs --runs /etc/passwd
runs x
compare
compare point-select
compare point-select --engine null
compare point-select --engine null --engine duckdb --engine sqlite
compare point-select --engine null --a x
compare point-select --engine null --a nosuch=1 --b nosuch=2
compare point-select --engine null --vary x
compare point-select --engine null --vary clients=
compare point-select --engine null --repeat 0 --a clients=1 --b clients=2
sweep point-select --engine null
sweep point-select --engine null --clients 1,,2
sweep point-select --engine null --clients 1,x
sweep point-select --engine null --clients 1,1
sweep point-select --engine null --clients 1..1000000000
sweep point-select --engine null --vary x=1,2
sweep point-select --engine null --clients 1,2 --budget x
sweep point-select --engine null --clients 1,2 --repeat 0
sweep point-select --engine null --clients 1,2 --repeat 99999999999
sweep point-select --engine null --clients 1,{huge}
sweep point-select --engine null --clients 1,{more}
tune point-select --engine null
tune point-select --engine null --knob x
tune point-select --engine null --knob x=1..0
tune point-select --engine null --knob x=1..2 --objective beauty
durability nosuch
durability tpcc --kills 0
durability tpcc --kills 99999999999
durability tpcc --kills 0 --copies 99999999999 --allow-host-changes
durability tpcc --between 1s-99999999h
durability tpcc --between 5s
durability tpcc --between 5s-2s
durability tpcc --between x-y
durability tpch
observe
observe --dsn x
observe --dsn postgresql://h --time 0s
observe --dsn postgresql://h --engine nosuch
plans tpch
plans tpch -o q99
plans tpch -o q01 --most 0
plans tpch -o q01 --most 99999999999999
plans tpch -o q01 --repeat 9999999999
plans tpch -o q01 --cut-off nan
plans tpch -o q01 --cut-off 0
plans tpch -o q01 --engine null
study
study nosuch
study /etc/passwd
study tpch-profile --only nosuch
study tpch-profile --budget -1h
agent
agent x
agent tcp://
agent tcp://127.0.0.1:x
agent tcp://127.0.0.1:99999
agent tls://127.0.0.1:1
agent tls://127.0.0.1:1 --tls /no/such
agent tcp://127.0.0.1:1
cache nosuch
cache prune --keep x
cache prune --keep -1
cache prune --keep {huge}GB
capture
capture --out {place}/o
capture --out {place}/o --log /no/such
capture --out {place}/o --log /etc
capture --out {place}/o --log /dev/null
capture --out {place}/o --log /bin/true
capture --out {place}/o --dsn x
capture --out {place}/o --log /etc/passwd --dsn x
capture --out /etc/passwd --log /etc/passwd
capture --out {place}/o --log /etc/passwd --time x
doctor x
doctor --restore x
engines nosuch
engines show
engines show nosuch
engines show duckd
engines show ../../etc
engines install
engines install nosuch
engines install null@1
generate
generate nosuch --out {place}/o
generate tpch
generate tpch --out /etc/passwd --scale 0.01
generate tpch --out {place}/o --scale 0
generate tpch --out {place}/o --scale nan
generate tpch --out {place}/o --scale 1e300
generate tpch --out {place}/o --format xml
generate tpch --out {place}/o --threads 0
generate tpch --out {place}/o --threads 99999999999
generate tpch --out {place}/o --seed -1
generate point-select --out {place}/o
studies nosuch
studies show
studies show nosuch
studies show /etc
studies new
studies new /etc/passwd
studies new /proc/x
workloads nosuch
workloads show nosuch
workloads show tpch q99
workloads new
workloads new /etc/passwd
workloads new /proc/x
diagnose
diagnose nosuch
diagnose tpch --budget x
diagnose tpch --engine nosuch
size
size nosuch --scale 1 --nodes 1
size --scale 0 --nodes 1
size --scale nan --nodes 1
size --scale 1 --nodes 0
size --scale 1 --nodes 1 --memory x
size --scale 1 --nodes 1 --utilisation 0
size --scale 1 --nodes 1 --network x
size --scale 1 --nodes 1 --network {huge}Gbit
size --scale 1 --nodes {huge}
try
try nosuch
try latest nosuch
whatif nosuch
whatif --halve ''
whatif --cores 0
whatif --cores nan
whatif --operation-time x
whatif --scale-operation x=y
why nosuch
why tpch --repeat 0
why tpch --repeat 99999999999999
why tpch --engine nosuch
why tpch --operation q99
ceiling --size x
ceiling --size 0
ceiling --size -1GB
ceiling --size 999PB
ceiling --size {huge}GB
ceiling --time x
ceiling --time -1s
ceiling --rounds 0
ceiling --rounds 99999999999
ceiling --only moon
ceiling --dir /no/such
ceiling --dir /etc/passwd
ceiling --seed -1
answers
answers nosuch
answers tpch --engine nosuch
answers tpch --operation q99
answers tpch --keep --engine nosuch
"""
# Verbs that look for what they are named, so that a name of 1 MB or with a NUL reaches the disk.
NAMED = (
    ("run",),
    ("show",),
    ("report",),
    ("study",),
    ("engines", "show"),
    ("workloads", "show"),
    ("studies", "show"),
    ("diagnose",),
)


def command_lines() -> Iterator[tuple[str, ...]]:
    """Yield every command line of the tables."""
    for verb in VERBS:
        yield (verb, "--no-such-option")
        yield (verb, "--json", "--no-such-option=\x1b[31m")
    for line in WORDS.strip().replace("{huge}", HUGE).replace("{more}", HUGE * 16).splitlines():
        yield tuple("" if word == "''" else word for word in line.split(" "))
    for option, values in OF_A_MIX.items():
        yield from ((*MIX, option, value) for value in values)
    for option, values in OF_QUERIES.items():
        yield from ((*QUERIES, option, value) for value in values)
    for verb in NAMED:
        yield from ((*verb, name) for name in (LONG, "a\0b", "\x1b]0;title\x07"))
    yield from CONTRADICTIONS
    yield from EMPTY
    yield from SETTINGS


def short(arguments: Sequence[str]) -> str:
    """Return a command line as the name of its test."""
    words = (word if len(word) < 60 else f"{word[:5]}({len(word)})" for word in arguments)
    return ascii(" ".join(words))[1:-1]
