"""Workloads and studies that cannot be read: a table of folders, a file's content by its name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

# A file's bytes or text; `LINK` begins where a link leads, `PIPE` is a pipe that nobody writes to.
Files = Mapping[str | bytes, str | bytes]
LINK, PIPE = "-> ", "|"
QUERY: Final[Files] = {"q.sql": "select 1 as n"}
LONG = "x" * 100_000
DEEP = "a = " + "[" * 5_000 + "]" * 5_000
BINARY = bytes(range(256))


def written(place: Path, files: Files) -> Path:
    """Make a folder of files."""
    place.mkdir(parents=True)
    for name, content in files.items():
        path = place / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if content == PIPE:
            os.mkfifo(path)
        elif isinstance(content, str) and content.startswith(LINK):
            path.symlink_to(content.removeprefix(LINK))
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


def manifest(text: str | bytes, files: Files = QUERY, **more: str | bytes) -> Files:
    """Return a workload with this manifest; in names of files `__` is a slash, and `_` a dot."""
    others = {name.replace("__", "/").replace("_", "."): content for name, content in more.items()}
    return {"workload.toml": text, **files, **others}


def drawn(rule: str) -> Files:
    """Return a workload whose query has a parameter with this rule."""
    return manifest(f"[operations.q.parameters.a]\n{rule}", {"q.sql": "select ${a} as n"})


def mix(facts: str, **more: str | bytes) -> Files:
    """Return a workload that clients draw from, with these facts of its operation."""
    return manifest(f'arrival = "closed"\n[operations.q]\n{facts}', **more)


WORKLOADS: Mapping[str, Files] = {
    "a manifest of bytes": manifest(BINARY),
    "a NUL in the manifest": manifest('title = "a\0"'),
    "a NUL as a code": manifest('title = "a\\u0000b"'),
    "an escape sequence in the manifest": manifest('title = "a\\u001b[31m"'),
    "no TOML": manifest("a = "),
    "a key nearly right": manifest('titel = "x"'),
    "a key of 100 kB": manifest(f'{LONG} = "x"'),
    "nested too deep": manifest(DEEP),
    "a date for a title": manifest("title = 1979-05-27"),
    "a number for a title": manifest("title = 3"),
    "a text for a list": manifest('order = "q"'),
    "an order of nothing": manifest('order = ["nosuch"]'),
    "facts of no operation": manifest('[operations.nosuch]\ntitle = "x"'),
    "operations as a text": manifest('operations = "x"'),
    "an operation of 100 kB": manifest(f"[operations.{LONG}]\nrows = 1"),
    "weight 0": manifest("[operations.q]\nweight = 0"),
    "weight as a text": manifest('[operations.q]\nweight = "x"'),
    "rows below 0": manifest("[operations.q]\nrows = -1"),
    "limit below 0": manifest("[operations.q]\nlimit = -1"),
    "limit of 0 s": manifest("[operations.q]\nlimit_s = 0"),
    "a share of 7": manifest("[operations.q]\nshare_min = 7"),
    "an unknown arrival": manifest('arrival = "sometimes"'),
    "an unknown generator": manifest('generator = "nosuch"\ntables = ["t"]'),
    "tables without a generator": manifest('tables = ["t"]'),
    "triples without a generator": manifest('triples = ["t"]'),
    "data of itself": manifest('data_of = "."'),
    "data of a folder that is not there": manifest('data_of = "../nosuch"'),
    "data of nobody": manifest('data_of = "nosuch"'),
    "data of the whole disk": manifest('data_of = "/etc"'),
    "data of a number": manifest("data_of = 3"),
    "data of a NUL": manifest('data_of = "a\\u0000b"'),
    "a script that is not there": manifest('setup = ["schema/no.sql"]'),
    "a script outside": manifest('setup = ["../../../../../../etc/passwd"]'),
    "a script with a NUL": manifest('setup = ["a\\u0000b"]'),
    "after nothing": manifest('after = ["nosuch"]'),
    "only after": manifest('after = ["q"]'),
    "checked nothing": manifest('[sequence]\nname = "x"\nchecked = ["nosuch"]'),
    "a constant that grows by a text": manifest('[constants]\na = { times_scale = "x" }'),
    "a constant that shrinks": manifest("[constants]\na = { times_scale = -1 }"),
    "a constant of two kinds": manifest(
        "[constants]\na = { times_scale = 1, times_log_scale = 1 }"
    ),
    "an unknown constant": manifest("[constants]\na = { nosuch = 1 }"),
    "no rule": {"q.sql": "select ${a} as n"},
    "half a name": {"q.sql": "select ${"},
    "a name with a blank": {"q.sql": "select ${a b}"},
    "a range backwards": drawn("integer = [2, 1]\ndefault = 1"),
    "an unknown bound": drawn('integer = [1, "nosuch"]\ndefault = 1'),
    "an unknown list": drawn('choice = "nosuch"'),
    "two rules": drawn('choice = ["x"]\ninteger = [1, 2]'),
    "months of no calendar": drawn('month = ["1999-99-99", "x"]'),
    "a decimal of texts": drawn('decimal = ["x", "y"]'),
    "nine of one": drawn('choice = ["x"]\ndistinct = 9'),
    "a circle of one": drawn('follows = "a"\nmap = "m"'),
    "a circle of two": manifest(
        "[operations.q.parameters]\n"
        'a = { follows = "b", map = "m" }\nb = { follows = "a", map = "m" }',
        {"q.sql": "select ${a}, ${b}"},
    ),
    "no default": drawn('choice = ["x"]'),
    "a range beyond 64 bits": mix(f"parameters.a.integer = [1, {2**64}]"),
    "an unknown program": mix('program = "no.such"'),
    "values that are not there": mix('values = "v.parquet"'),
    "values that are none": mix('values = "v.parquet"', v_parquet=b"PAR1garbagePAR1"),
    "values outside": mix('values = "/etc/passwd"'),
    "a schedule that is not there": manifest('[captured]\nschedule = "schedule.parquet"'),
    "streams that are not there": manifest('[streams]\norders = "streams.csv"\nminimum = [[1, 2]]'),
    "streams of bytes": manifest(
        '[streams]\norders = "streams.csv"\nminimum = [[1, 2]]', streams_csv=b"\xff\xfe\0,,"
    ),
    "streams of nothing": manifest(
        '[streams]\norders = "streams.csv"\nminimum = [[1, 2]]', streams_csv="nosuch\n"
    ),
    "a tolerance that is no number": manifest("[tolerance]\nsum_absolute = nan"),
    "a tolerance as a text": manifest('[tolerance]\nsum_absolute = "x"'),
    "an unknown comparison": manifest('[operations.q]\nanswer = { n = "sort of" }'),
    "an unknown receipt": manifest("[receipt]\nx = 1"),
    "an unknown language": manifest('languages = ["cobol"]'),
    "an empty folder": {},
    "only a manifest": {"workload.toml": ""},
    "an empty query": {"q.sql": ""},
    "a comment for a query": {"q.sql": "-- nothing"},
    "a query of bytes": {"q.sql": BINARY},
    "a NUL in the query": {"q.sql": "select 1\0"},
    "a folder for a query": {"q.sql/x": "x"},
    "answers of bytes": manifest("", answers__q_csv=BINARY),
    "empty answers": manifest("", answers__q_csv=""),
    "answers kept badly": manifest("", answers__kept_json="{", answers__q_csv="n\n1\n"),
    "answers kept as a list": manifest("", answers__kept_json="[]", answers__q_csv="n\n1\n"),
    "answers kept by nobody": manifest("", answers__kept_json='{"q": 3}', answers__q_csv="n\n1\n"),
    "rows of no query": manifest('generator = "sql"\ntables = ["t"]\nsetup = []'),
    "an escape sequence for a name": {"\x1b[31m.sql": "select 1 as n"},
    "a line break in a name": {"a\nb.sql": "select 1 as n"},
    "an @ in a name": {"@SUM(A1).sql": "select 1 as n"},
    "bytes for a name": {b"\xff.sql": "select 1 as n"},
    "a link for a manifest": {**QUERY, "workload.toml": LINK + "/etc/passwd"},
    "a manifest that leads to itself": {**QUERY, "workload.toml": LINK + "workload.toml"},
    "a manifest that leads nowhere": {**QUERY, "workload.toml": LINK + "nowhere"},
    "a query that leads to itself": {"q.sql": LINK + "q.sql"},
    "a query that leads nowhere": {"q.sql": LINK + "nowhere"},
    "a pipe for a query": {"q.sql": PIPE},
    "a pipe beside a query": {**QUERY, "other.sql": PIPE},
    "a link that leads nowhere beside a query": {**QUERY, "other.sql": LINK + "nowhere"},
    "a directory beside a query": {**QUERY, "other.sql/a.txt": "a"},
    "a pipe for a manifest": {**QUERY, "workload.toml": PIPE},
}

HEAD = '# Why?\ntitle = "x"\nworkload = "point-select"\nengine = "null"\ntime = "100ms"\n'
PART = f"{HEAD}[part.a]\n"
# Of each what stands in `study.toml`.
STUDIES: Mapping[str, str | bytes] = {
    "bytes": BINARY,
    "nothing": "",
    "no TOML": "a = ",
    "no question": 'title = "x"\n[part.a]\n',
    "no parts": HEAD,
    "no workload": '# Why?\ntitle = "x"\nengine = "null"\n[part.a]\n',
    "an unknown key": f"{HEAD}titel = 1\n[part.a]\n",
    "a key nearly right": f'{HEAD}warmupp = "1s"\n[part.a]\n',
    "a key of 100 kB": f"{HEAD}{LONG} = 1\n[part.a]\n",
    "a date": f"{HEAD}from = 1979-05-27\n[part.a]\n",
    "nested too deep": HEAD + DEEP,
    "a scale as a text": f'{HEAD}scale = "big"\n[part.a]\n',
    "clients as a list": f"{PART}clients = [1]\n",
    "a rate that is no number": f"{PART}rate = nan\n",
    "a part as a text": f'{HEAD}part = "x"',
    "an unknown key of a part": f"{PART}nosuch = 1\n",
    "factors as a text": f'{PART}factor = "x"\n',
    "a factor of nothing": f"{PART}factor.seed = []\n",
    "a factor that is no list": f"{PART}factor.seed = 1\n",
    "a level twice": f"{PART}factor.seed = [1, 1]\n",
    "lists for levels": f"{PART}factor.seed = [[1], [2]]\n",
    "an unknown factor": f"{PART}factor.nosuch = [1, 2]\n",
    "a level without a name": f"{PART}factor.x = [{{ seed = 1 }}]\n",
    "a level of an unknown key": f'{PART}factor.x = [{{ name = "a", nosuch = 1 }}]\n',
    "set twice": f"{PART}seed = 3\nfactor.seed = [1, 2]\n",
    "millions of runs": PART
    + "".join(f'factor."set.a{factor}" = {list(range(30))}\n' for factor in range(6)),
    "a million repetitions": f"{HEAD}repetitions = 1_000_000\n[part.a]\n",
    "no repetition": f"{HEAD}repetitions = 0\n[part.a]\n",
    "half a repetition": f"{HEAD}repetitions = 1.5\n[part.a]\n",
    "an exclusion of nothing": f"{PART}factor.seed = [1, 2]\nexclude = [{{ nosuch = 1 }}]\n",
    "all excluded": f"{PART}factor.seed = [1, 2]\nexclude = [{{}}]\n",
    "an exclusion as a text": f'{PART}exclude = "x"\n',
    "an unknown budget": f'{HEAD}budget = "x"\n[part.a]\n',
    "a seed below 0": f"{HEAD}seed = -1\n[part.a]\n",
    "quick as a number": f"{HEAD}quick = 3\n[part.a]\n",
    "quick of an unknown key": f"{HEAD}quick = {{ nosuch = 1 }}\n[part.a]\n",
    "an unknown figure": f'{PART}[[figure]]\nname = "x"\nkind = "nosuch"\n',
    "a figure of no part": f'{PART}[[figure]]\nname = "x"\npart = "nosuch"\nkind = "sweep"\n',
    "a figure without a name": f'{PART}[[figure]]\nkind = "sweep"\n',
    "a figure outside": f'{PART}[[figure]]\nname = "../../x"\nkind = "sweep"\n',
    "expects a number": f"{PART}expects = 3\n",
    "an unknown kind": f'{PART}kind = "floor"\n',
    "a workload outside": f'{PART}workload = "../../../../../../etc"\n',
    "a workload with a NUL": f'{PART}workload = "a\\u0000b"\n',
    "an engine with a NUL": '# Why?\nengine = "a\\u0000b"\nworkload = "tpch"\n[part.a]\n',
    "a list of engines": '# Why?\nengine = ["null"]\nworkload = "tpch"\n[part.a]\n',
    "a part outside": f'{HEAD}[part."../../x"]\n',
    "an escape sequence for a part": f'{HEAD}[part."\\u001b[31m"]\n',
    "a script that is not there": f'{PART}prepare = "no.sql"\n',
    "settings as a number": f"{PART}set = 3\n",
    "settings in settings": f"{PART}set = {{ a = {{ b = 1 }} }}\n",
    "an unknown limit": f"{PART}limit = {{ nosuch = 1 }}\n",
    "an unknown set of techniques": f'{PART}factor.without = "every"\n',
    "levels of durability": f'{PART}factor.durability = ["full", "none"]\n',
    "a link": LINK + "/etc/passwd",
    "a link to itself": LINK + "study.toml",
    "a pipe": PIPE,
}
