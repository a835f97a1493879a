"""Agents of a run's own know each other by a certificate that other accounts cannot read."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from assay.model.errors import RunFailedError
from assay.running.fleet import meeting
from assay.running.fleet.asked import parse_fleet, security
from assay.running.fleet.credentials import write_credentials


class Starts:
    """In place of a guardian: keeps the command lines that it is asked to start."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.commands: list[list[str]] = []

    def start(self, command, **_):
        self.commands.append(command)
        return command

    def stop(self, child):
        self.commands.remove(child)


@contextmanager
def own_fleet(tmp_path):
    guardian = Starts(tmp_path)
    asked = parse_fleet("1")
    tls = meeting._credentials(SimpleNamespace(fleet_tls=None), asked, guardian)
    agents = meeting.Agents(security(tls))
    try:
        with meeting._place(asked, agents, tls, guardian, tmp_path) as place:
            yield place, tls, guardian
    finally:
        agents.close()


def reached(address, safety):
    """Whether a scheduler answers who comes with these credentials."""
    agents = meeting.Agents(safety)
    try:
        agents.run(identity(address, safety))
    except (OSError, TimeoutError, RunFailedError, TypeError):
        return False
    finally:
        agents.close()
    return True


async def identity(address, safety):
    from distributed.core import rpc

    async with rpc(
        address, connection_args=safety.get_connection_args("client"), timeout=1
    ) as scheduler:
        await scheduler.identity()


def test_the_scheduler_of_a_run_answers_only_who_has_its_credentials(tmp_path):
    (tmp_path / "other").mkdir()
    stranger = security(write_credentials(tmp_path / "other"))
    with own_fleet(tmp_path) as (place, tls, _):
        assert reached(place.address, security(tls))
        assert not reached(place.address, stranger)
        assert not reached(place.address.replace("tls:", "tcp:"), security(None))


def test_the_key_is_in_private_files_and_on_no_command_line(tmp_path):
    with own_fleet(tmp_path) as (_, tls, guardian):
        assert tls.stat().st_mode & 0o777 == 0o700
        assert {file.stat().st_mode & 0o777 for file in tls.iterdir()} == {0o600}
        (command,) = guardian.commands
        assert command[-1] == str(tls)
        assert "PRIVATE" not in " ".join(command)


def test_each_run_has_credentials_of_its_own(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    keys = {(write_credentials(place) / "key.pem").read_text() for place in (first, second)}
    assert len(keys) == len((first, second))
