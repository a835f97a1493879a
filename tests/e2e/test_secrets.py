"""A password, however it is given, is in no record, log, page, error or list of processes.

It is searched for byte by byte: as it is, as a URL has it, as JSON has it, and in parts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.e2e.conftest import PATIENCE_S, Lab
from tests.e2e.server import DATABASE, HOST, PASSWORD, RunningServer
from tests.jdbc import DRIVERS, driver
from tests.terminal import AT_TERMINAL, Terminal

ENDED, WRONG, FAILED = 0, 1, 2
PROMPT = "Password of the server: "
LOOK_EVERY_S = 0.01


@dataclass(frozen=True)
class Given:
    """A way in which a password is given.

    Attributes:
        arguments: Of `assay`.
        variables: Of its environment.
        codes: Exit codes that are right.
        is_shown: Whether the caller wrote it on the command line, where it stays for all to see.
        typed: What a person types at the terminal when asked; None without a terminal.
    """

    arguments: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    codes: tuple[int, ...] = (ENDED,)
    is_shown: bool = True
    typed: str | None = None


def url(server: RunningServer, password: str = PASSWORD, port: int | None = None) -> str:
    place = f"{HOST}:{port or server.port}/{DATABASE}"
    return f"postgresql://owner:{quote(password, safe='')}@{place}"


def run(folder: Path, dsn: str, *more: str) -> tuple[str, ...]:
    brief = ("--min-time", "50ms", "--engine", "postgresql", "--no-plans")
    return ("run", str(folder), "--dsn", dsn, *brief, *more)


def by_url(server: RunningServer, folder: Path) -> Given:
    return Given(run(folder, url(server), "--page"))


def by_keywords(server: RunningServer, folder: Path) -> Given:
    return Given(run(folder, server.dsn()))


def by_environment(server: RunningServer, folder: Path) -> Given:
    given = run(folder, server.dsn(password=None))
    return Given(given, {"PGPASSWORD": PASSWORD}, is_shown=False)


def by_password_file(server: RunningServer, folder: Path) -> Given:
    escaped = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
    # Beside the laboratory: all that is in there is searched.
    file = folder.parent / "passwords"
    file.write_text(f"{HOST}:{server.port}:{DATABASE}:owner:{escaped}\n", "utf-8")
    file.chmod(0o600)
    given = run(folder, server.dsn(password=None))
    return Given(given, {"PGPASSFILE": str(file)}, is_shown=False)


def by_fleet(server: RunningServer, folder: Path) -> Given:
    mix = folder.parent / "mix"
    mix.mkdir()
    (mix / "workload.toml").write_text('arrival = "closed"\n', "utf-8")
    (mix / "names.sql").write_text("select 1 as n", "utf-8")
    brief = ("--engine", "postgresql", "--time", "300ms", "--warmup", "0s", "--no-plans")
    fleet = ("--fleet", "2", "--clients", "2")
    return Given(("run", str(mix), "--dsn", server.dsn(), *brief, *fleet))


def by_study(server: RunningServer, folder: Path) -> Given:
    study = folder.parent / "study.toml"
    keys = {"title": "x", "workload": str(folder), "engine": "postgresql", "dsn": url(server)}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    text = "\n".join(["# Why?", *lines, 'min_time = "50ms"', "plans = false", "[part.a]"])
    study.write_text(text, "utf-8")
    return Given(("study", str(study)), is_shown=False)


def by_observing(server: RunningServer, folder: Path) -> Given:
    return Given(("observe", "--dsn", url(server), "--time", "300ms"), codes=(ENDED, FAILED))


def typed(arguments: tuple[str, ...], password: str = PASSWORD, **more: Any) -> Given:
    return Given((*arguments, "--ask-password"), is_shown=False, typed=f"{password}\n", **more)


def by_prompt(server: RunningServer, folder: Path) -> Given:
    return typed(run(folder, f"postgresql://owner@{HOST}:{server.port}/{DATABASE}", "--page"))


def by_prompt_to_a_fleet(server: RunningServer, folder: Path) -> Given:
    given = by_fleet(server, folder)
    without = (server.dsn(password=None) if it == server.dsn() else it for it in given.arguments)
    return typed(tuple(without))


def by_prompt_observing(server: RunningServer, folder: Path) -> Given:
    dsn = f"postgresql://owner@{HOST}:{server.port}/{DATABASE}"
    return typed(("observe", "--dsn", dsn, "--time", "300ms"), codes=(ENDED, FAILED))


def by_prompt_for_a_study(server: RunningServer, folder: Path) -> Given:
    given = by_study(server, folder)
    study = Path(given.arguments[1])
    without = f"postgresql://owner@{HOST}:{server.port}/{DATABASE}"
    study.write_text(study.read_text("utf-8").replace(url(server), without), "utf-8")
    return typed(given.arguments)


def by_prompt_over_jdbc(server: RunningServer, folder: Path) -> Given:
    dsn = f"jdbc:postgresql://{HOST}:{server.port}/{DATABASE}?user=owner"
    return typed(over_jdbc(folder, dsn))


def a_wrong_one_by_prompt(server: RunningServer, folder: Path) -> Given:
    dsn = f"postgresql://owner@{HOST}:{server.port}/{DATABASE}"
    return typed(run(folder, dsn), PASSWORD + "-wr0ng", codes=(WRONG, FAILED))


def jdbc_url(server: RunningServer, password: str = PASSWORD, port: int | None = None) -> str:
    place = f"{HOST}:{port or server.port}/{DATABASE}"
    return f"jdbc:postgresql://{place}?user=owner&password={quote(password, safe='')}"


def over_jdbc(folder: Path, dsn: str, *more: str) -> tuple[str, ...]:
    driver("postgresql")
    brief = ("--min-time", "50ms", "--driver", DRIVERS["postgresql"])
    return ("run", str(folder), "--dsn", dsn, *brief, *more)


def by_jdbc_url(server: RunningServer, folder: Path) -> Given:
    return Given(over_jdbc(folder, jdbc_url(server), "--page"))


def by_jdbc_url_without_quoting(server: RunningServer, folder: Path) -> Given:
    # The driver decodes it, and takes what is not encoded as it is.
    return Given(over_jdbc(folder, jdbc_url(server).replace("%2F", "/").replace("%3B", ";")))


def by_jdbc_environment(server: RunningServer, folder: Path) -> Given:
    dsn = f"jdbc:postgresql://{HOST}:{server.port}/{DATABASE}"
    variables = {"JDBC_USER": "owner", "JDBC_PASSWORD": PASSWORD}
    return Given(over_jdbc(folder, dsn), variables, is_shown=False)


def by_jdbc_study(server: RunningServer, folder: Path) -> Given:
    driver("postgresql")
    study = folder.parent / "study.toml"
    keys = {"title": "x", "workload": str(folder), "engine": "jdbc", "dsn": jdbc_url(server)}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    lines += [f"driver = {json.dumps([DRIVERS['postgresql']])}", 'min_time = "50ms"', "[part.a]"]
    study.write_text("\n".join(["# Why?", *lines]), "utf-8")
    return Given(("study", str(study)), is_shown=False)


def a_wrong_one_over_jdbc(server: RunningServer, folder: Path) -> Given:
    dsn = jdbc_url(server, PASSWORD + "-wr0ng")
    return Given(over_jdbc(folder, dsn), codes=(WRONG, FAILED))


def for_a_dead_server_over_jdbc(server: RunningServer, folder: Path) -> Given:
    return Given(over_jdbc(folder, jdbc_url(server, port=1)), codes=(WRONG, FAILED))


def in_a_bad_jdbc_address(server: RunningServer, folder: Path) -> Given:
    # The driver prints an address that it cannot read into its log.
    dsn = jdbc_url(server).replace(f":{server.port}/", ":port/")
    return Given(over_jdbc(folder, dsn), codes=(WRONG, FAILED))


def by_jdbc_in_an_unknown_form(server: RunningServer, folder: Path) -> Given:
    del server
    dsn = f"jdbc:nosuch:owner/{quote(PASSWORD, safe='')}@//{HOST}/x"
    return Given(over_jdbc(folder, dsn), codes=(WRONG, FAILED))


def by_jdbc_properties_of_another_product(server: RunningServer, folder: Path) -> Given:
    dsn = f"jdbc:sqlserver://{HOST}:{server.port};user=owner;password={quote(PASSWORD, safe='')}"
    return Given(over_jdbc(folder, dsn), codes=(WRONG, FAILED))


def a_wrong_one(server: RunningServer, folder: Path) -> Given:
    return Given(run(folder, url(server, PASSWORD + "-wr0ng")), codes=(WRONG, FAILED))


def for_a_dead_server(server: RunningServer, folder: Path) -> Given:
    return Given(run(folder, url(server, port=1)), codes=(WRONG, FAILED))


def in_a_bad_address(server: RunningServer, folder: Path) -> Given:
    return Given(run(folder, url(server) + "?sslmode=sometimes"), codes=(WRONG,))


WAYS: tuple[Callable[[RunningServer, Path], Given], ...] = (
    by_url,
    by_keywords,
    by_environment,
    by_password_file,
    by_fleet,
    by_study,
    by_observing,
    a_wrong_one,
    for_a_dead_server,
    in_a_bad_address,
    by_prompt,
    by_prompt_to_a_fleet,
    by_prompt_observing,
    by_prompt_for_a_study,
    by_prompt_over_jdbc,
    a_wrong_one_by_prompt,
    by_jdbc_url,
    by_jdbc_url_without_quoting,
    by_jdbc_environment,
    by_jdbc_study,
    a_wrong_one_over_jdbc,
    for_a_dead_server_over_jdbc,
    in_a_bad_jdbc_address,
    by_jdbc_in_an_unknown_form,
    by_jdbc_properties_of_another_product,
)


def secrets() -> set[bytes]:
    """Return the password in each form that a file may have it in."""
    whole = (PASSWORD, quote(PASSWORD, safe=""), quote(PASSWORD), json.dumps(PASSWORD)[1:-1])
    # Its ends, too: they stay where something was blotted out up to a letter within.
    return {part.encode() for part in (*whole, PASSWORD[:6], PASSWORD[-5:])}


def has_secret(content: bytes) -> bool:
    return any(secret in content for secret in secrets())


def files_with_a_secret(lab: Lab) -> list[Path]:
    places = (lab.runs, lab.root / "state", lab.root / "out")
    files = (file for place in places for file in place.rglob("*") if file.is_file())
    return [file for file in files if has_secret(file.read_bytes())]


def shown_by_processes(lab: Lab, given: Given, written: bytes) -> Iterator[str]:
    """Yield what the kernel shows of processes of the laboratory that has the password."""
    # What a person wrote on a command line or into the environment is there by their will. A
    # process that was forked, and has not yet its own program, has the same command line.
    for pid in lab.strays():
        files = [] if given.variables else ["environ"]
        for file in ("cmdline", *files):
            try:
                content = Path(f"/proc/{pid}/{file}").read_bytes()
            except OSError:
                continue
            is_written = file == "cmdline" and given.is_shown and content == written
            if has_secret(content) and not is_written:
                yield f"{file} of {content[:40]!r}"


def watched(lab: Lab, given: Given) -> tuple[subprocess.Popen[str], str, set[str]]:
    """Carry a command out; what it printed, and what processes showed meanwhile."""
    lab.extra_env.update(given.variables)
    out = lab.root / "printed"
    shown: set[str] = set()
    with out.open("wb") as printed, Terminal() as terminal:
        at = {} if given.typed is None else {"stdin": terminal.side, **AT_TERMINAL}
        started = lab.begin(*given.arguments, "--runs", str(lab.runs), **at)
        if given.typed is not None:
            terminal.answer(PROMPT, given.typed)
        written = "\0".join((sys.executable, *started.args, "")).encode()
        deadline_s = time.monotonic() + PATIENCE_S
        while started.poll() is None and time.monotonic() < deadline_s:
            shown |= set(shown_by_processes(lab, given, written))
            time.sleep(LOOK_EVERY_S)
        printed.write("".join(started.communicate(timeout=PATIENCE_S)).encode())
        printed.write(terminal.shown().encode())
    return started, os.fsdecode(out.read_bytes()), shown


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_password_is_nowhere(
    way: Callable[[RunningServer, Path], Given],
    server: RunningServer,
    server_lab: Lab,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "queries"
    folder.mkdir()
    (folder / "names.sql").write_text("select 1 as n", "utf-8")
    given = way(server, folder)
    started, printed, shown = watched(server_lab, given)
    assert started.returncode in given.codes, printed
    assert not has_secret(printed.encode())
    assert shown == set()
    assert files_with_a_secret(server_lab) == []
    assert PASSWORD.encode() not in server.log.read_bytes()


def test_what_is_made_of_a_record_has_no_password(
    server: RunningServer, server_lab: Lab, tmp_path: Path
) -> None:
    folder = tmp_path / "queries"
    folder.mkdir()
    (folder / "names.sql").write_text("select 1 as n", "utf-8")
    record = server_lab.document(*run(folder, url(server)))["path"]
    made = [
        server_lab.assay("report", record),
        server_lab.assay("explain", record, "--all"),
        server_lab.assay("show", record, "--all", "--json"),
        *(
            server_lab.assay("export", record, "--to", form, "--out", str(server_lab.root / "out"))
            for form in ("csv", "json", "parquet")
        ),
    ]
    assert [ended.stderr for ended in made if ended.returncode] == []
    assert not any(has_secret((ended.stdout + ended.stderr).encode()) for ended in made)
    assert files_with_a_secret(server_lab) == []
