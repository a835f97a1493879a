# /// script
# requires-python = ">=3.11"
# dependencies = ["pgserver==0.1.4", "psycopg[binary]==3.3.9", "tpchgen-cli==4.0.0"]
# ///
"""Makes the reference answers of the TPC-H workload with PostgreSQL.

The lab checks every engine's answers against files. At SF 1 those are the published answers; for the small scales
none are published, so an engine that takes no other part in the check makes them: a PostgreSQL of its own, in a
temporary directory, on a unix socket. It reads the workload's own SQL and default parameters, hence the same run at
SF 1, compared with the published answers, also shows that the SQL is right:

    uv run benchmarks/reference_answers.py --scale 0.01 --out DIR
    uv run benchmarks/reference_answers.py --scale 1 --out DIR \\
        --against python/assay/workloads/tpch/answers/sf1

Derived from TPC-H, not comparable to published TPC results.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import psycopg

WORKLOAD_DIR = Path(__file__).resolve().parent.parent / "python/assay/workloads/tpch"
SCHEMA_FILES_AFTER_LOADING = ("keys.sql", "indexes.sql")
SERVER_START_SECONDS_MAX = 60.0
SERVER_SETTINGS = {
    "listen_addresses": "",
    # The database lives for minutes and is thrown away, so nothing has to reach the disk.
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "1GB",
    "work_mem": "256MB",
    "maintenance_work_mem": "512MB",
    "max_wal_size": "8GB",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}
BPCHAR_OID = 1042
# TPC-H's share for q11 has more digits than some engines' decimals can hold when SF does not divide it evenly.
PER_SCALE_STEP = Decimal("1e-10")
CENT = Decimal("0.01")

Workload = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """The rows of one operation as text, NULL as the empty string."""

    columns: list[str]
    rows: list[list[str]]

    def write(self, path: Path) -> None:
        lines = ["|".join(row) for row in [self.columns, *self.rows]]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Answer:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        columns, *rows = (line.split("|") for line in lines)
        return cls(columns, rows)


def main() -> int:
    options = parse_options()
    workload = read_workload()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tpch-") as name:
        directory = Path(name)
        directory.chmod(0o755)
        tables = generate_tables(options.scale, directory / "tables")
        with (
            running_server(directory) as conninfo,
            psycopg.connect(conninfo, autocommit=True) as connection,
        ):
            load(connection, workload, tables)
            write_answers(connection, workload, options.scale, options.out)
    if options.against is None:
        return 0
    return compare_folders(workload, options.scale, options.out, options.against)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Make the reference answers of the TPC-H workload with PostgreSQL."
    )
    parser.add_argument(
        "--scale", type=Decimal, required=True, help="scale factor, for instance 0.01"
    )
    parser.add_argument("--out", type=Path, required=True, help="directory for q01.csv to q22.csv")
    parser.add_argument(
        "--against", type=Path, help="directory of answers to compare the new ones with"
    )
    return parser.parse_args()


def read_workload() -> Workload:
    with (WORKLOAD_DIR / "workload.toml").open("rb") as file:
        return tomllib.load(file, parse_float=Decimal)


def generate_tables(scale: Decimal, directory: Path) -> Path:
    """Writes one CSV file with a header for each table, and returns their directory."""
    search_path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    generator = shutil.which("tpchgen-cli", path=search_path)
    if generator is None:
        sys.exit("tpchgen-cli is not installed; run this script with `uv run`, which installs it")
    subprocess.run([generator, "csv", "-s", str(scale), "-o", str(directory)], check=True)
    return directory


def load(connection: psycopg.Connection, workload: Workload, tables: Path) -> None:
    run_file(connection, WORKLOAD_DIR / "schema/tables.sql")
    for table in workload["tables"]:
        copy_table(connection, table, tables / f"{table}.csv")
    for name in SCHEMA_FILES_AFTER_LOADING:
        run_file(connection, WORKLOAD_DIR / "schema" / name)
    connection.execute("vacuum analyze")


def copy_table(connection: psycopg.Connection, table: str, path: Path) -> None:
    statement = f"copy {table} from stdin (format csv, header)".encode()
    with path.open("rb") as file, connection.cursor().copy(statement) as copy:
        shutil.copyfileobj(file, copy, 1 << 20)


def run_file(connection: psycopg.Connection, path: Path) -> None:
    connection.execute(path.read_bytes())


@contextmanager
def running_server(directory: Path) -> Iterator[str]:
    """Starts a PostgreSQL in `directory`, yields how to connect to it, and stops it by its process id."""
    programs = copy_programs(directory)
    data = create_cluster(programs, directory)
    settings = [
        word for name, value in SERVER_SETTINGS.items() for word in ("-c", f"{name}={value}")
    ]
    command = [str(programs / "postgres"), "-D", str(data), "-k", str(data), *settings]
    with (directory / "server.log").open("wb") as log:
        process = subprocess.Popen(unprivileged(command), stdout=log, stderr=log)
    try:
        conninfo = f"host={data} user=postgres dbname=postgres"
        wait_until_ready(process, conninfo, directory / "server.log")
        yield conninfo
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def copy_programs(directory: Path) -> Path:
    """Copies PostgreSQL out of its wheel, because another user may not be able to enter the place it is in.

    The programs find their libraries by a relative path, so both folders keep their places beside each other.
    """
    package = importlib.util.find_spec("pgserver")
    if package is None or not package.submodule_search_locations:
        sys.exit("pgserver is not installed; run this script with `uv run`, which installs it")
    source = Path(package.submodule_search_locations[0])
    copy = directory / "wheel"
    shutil.copytree(source / "pginstall", copy / "pgserver/pginstall", symlinks=True)
    shutil.copytree(source.with_name("pgserver.libs"), copy / "pgserver.libs", symlinks=True)
    return copy / "pgserver/pginstall/bin"


def create_cluster(programs: Path, directory: Path) -> Path:
    data = directory / "data"
    data.mkdir(mode=0o700)
    if os.geteuid() == 0:
        user = pwd.getpwnam("nobody")
        os.chown(data, user.pw_uid, user.pw_gid)
    options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]
    command = [str(programs / "initdb"), "-D", str(data), *options]
    subprocess.run(unprivileged(command), check=True, stdout=subprocess.DEVNULL)
    return data


def unprivileged(command: list[str]) -> list[str]:
    """PostgreSQL refuses to run as root; setpriv replaces itself, so the child is still the server."""
    if os.geteuid() != 0:
        return command
    user = pwd.getpwnam("nobody")
    return [
        "setpriv",
        f"--reuid={user.pw_uid}",
        f"--regid={user.pw_gid}",
        "--clear-groups",
        *command,
    ]


def wait_until_ready(process: subprocess.Popen[bytes], conninfo: str, log: Path) -> None:
    deadline = time.monotonic() + SERVER_START_SECONDS_MAX
    while process.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(conninfo).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    sys.exit(f"PostgreSQL did not start; it wrote:\n{log.read_text(errors='replace')}")


def write_answers(
    connection: psycopg.Connection, workload: Workload, scale: Decimal, out: Path
) -> None:
    for operation in sorted(workload["operations"]):
        started = time.monotonic()
        answer = ask(connection, statement(workload, operation, scale))
        answer.write(out / f"{operation}.csv")
        print(
            f"{operation}: {len(answer.rows)} rows, {time.monotonic() - started:.2f} s", flush=True
        )


def statement(workload: Workload, operation: str, scale: Decimal) -> str:
    """The operation's SQL with its default parameters in place of `${name}` and `${name[index]}`."""
    rules = workload["operations"][operation]["parameters"]

    def value_of(placeholder: re.Match[str]) -> str:
        value = default_of(rules[placeholder["name"]], scale)
        return str(value if placeholder["index"] is None else value[int(placeholder["index"])])

    sql = (WORKLOAD_DIR / f"operations/{operation}.sql").read_text(encoding="utf-8")
    return re.sub(r"\$\{(?P<name>\w+)(?:\[(?P<index>\d+)\])?\}", value_of, sql)


def default_of(rule: dict[str, Any], scale: Decimal) -> Any:
    if "per_scale" in rule:
        return format((rule["per_scale"] / scale).quantize(PER_SCALE_STEP), "f")
    return rule["default"]


def ask(connection: psycopg.Connection, sql: str) -> Answer:
    """Runs `sql` and keeps the values as PostgreSQL prints them, without the blanks that pad a char(n)."""
    result = connection.execute(sql.encode()).pgresult
    assert result is not None
    column_indexes = range(result.nfields)
    columns = [(result.fname(column) or b"").decode() for column in column_indexes]
    padded = {column for column in column_indexes if result.ftype(column) == BPCHAR_OID}

    def text(row: int, column: int) -> str:
        value = (result.get_value(row, column) or b"").decode()
        return value.rstrip(" ") if column in padded else value

    return Answer(
        columns, [[text(row, column) for column in column_indexes] for row in range(result.ntuples)]
    )


def compare_folders(
    workload: Workload, scale: Decimal, answer_dir: Path, expected_dir: Path
) -> int:
    """Prints one line an operation and returns the number of operations that differ."""
    differing = 0
    for operation in sorted(workload["operations"]):
        answer, expected = (
            Answer.read(folder / f"{operation}.csv") for folder in (answer_dir, expected_dir)
        )
        difference = compare(workload, operation, scale, answer, expected)
        differing += difference is not None
        print(f"{operation}: {difference or f'agrees, {len(expected.rows)} rows'}")
    return differing


def compare(
    workload: Workload, operation: str, scale: Decimal, answer: Answer, expected: Answer
) -> str | None:
    """None if `answer` agrees with `expected` under the workload's tolerances, else the first difference."""
    if answer.columns != expected.columns:
        return f"columns {answer.columns} instead of {expected.columns}"
    if len(answer.rows) != len(expected.rows):
        return f"{len(answer.rows)} rows instead of {len(expected.rows)}"
    kinds = [
        workload["operations"][operation]["answer"].get(column, "exact")
        for column in expected.columns
    ]
    difference = first_difference(workload, scale, kinds, answer.rows, expected.rows)
    if difference is None:
        return None
    # Rows that tie in the query's order may change places; sorted by all their text they may not.
    unordered = first_difference(workload, scale, kinds, sorted(answer.rows), sorted(expected.rows))
    return difference if unordered else f"the same rows in another order: {difference}"


def first_difference(
    workload: Workload,
    scale: Decimal,
    kinds: Sequence[str],
    answer_rows: Sequence[Sequence[str]],
    expected_rows: Sequence[Sequence[str]],
) -> str | None:
    for number, (answer_row, expected_row) in enumerate(
        zip(answer_rows, expected_rows, strict=True), start=1
    ):
        for kind, cell, expected in zip(kinds, answer_row, expected_row, strict=True):
            if not agrees(workload["tolerance"], scale, kind, cell, expected):
                return f"row {number}: {cell!r} instead of {expected!r} ({kind})"
    return None


def agrees(
    tolerance: dict[str, Decimal], scale: Decimal, kind: str, cell: str, expected: str
) -> bool:
    if cell == expected:
        return True
    try:
        value, target = Decimal(cell), Decimal(expected)
    except InvalidOperation:
        return False
    if kind == "sum":
        return abs(value - target) <= tolerance["sum_absolute"] * min(scale, Decimal(1))
    value, target = value.quantize(CENT), target.quantize(CENT)
    allowed = Decimal(0) if kind == "exact" else tolerance["ratio_relative"] * abs(target)
    return abs(value - target) <= allowed


if __name__ == "__main__":
    sys.exit(main())
