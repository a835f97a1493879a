"""What `--fleet` means, whom it is refused for, and which sessions each host has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.main import run_command
from assay.model.errors import UsageError
from assay.running.asked.asking import considered
from assay.running.asked.options import RunOptions
from assay.running.asked.understanding import request_of
from assay.running.fleet.asked import (
    TLS_FILES,
    Fleet,
    Meeting,
    check_network,
    parse_fleet,
    parse_meeting,
    tls_directory,
)
from assay.running.fleet.shares import split

LOOPBACK = Meeting("tcp", "127.0.0.1", 8786)
ELSEWHERE = Meeting("tcp", "10.0.0.5", 8786)


def asked(**options):
    request = request_of(RunOptions(**options), options.keys())
    considered(request)
    return request


@given(st.integers(1, 500), st.integers(1, 64))
def test_hosts_have_all_sessions_together_and_as_many_as_each_other(sessions, hosts):
    if sessions < hosts:
        with pytest.raises(UsageError, match="--clients"):
            split(sessions, hosts)
        return
    shares = split(sessions, hosts)
    assert [number for share in shares for number in share] == list(range(sessions))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_a_fleet_is_a_number_or_a_place():
    assert parse_fleet("3") == Fleet(3, None)
    assert parse_fleet("tcp://127.0.0.1:8786") == Fleet(None, LOOPBACK)
    assert parse_fleet("2@tls://[::1]:99") == Fleet(2, Meeting("tls", "::1", 99))
    assert parse_fleet("2@tls://[::1]:99").meeting.address == "tls://[::1]:99"


@pytest.mark.parametrize(
    "text", ["", "0", "65", "0@tcp://h:1", "http://h:1", "tcp://h", "tcp://h:0", "tcp://h:70000"]
)
def test_what_is_no_fleet_is_refused(text):
    with pytest.raises(UsageError, match="--fleet"):
        parse_fleet(text)


def test_no_address_goes_without_certificates_or_permission():
    check_network(LOOPBACK, None, "--", plain=True)
    check_network(ELSEWHERE, None, "--", plain=True)
    for here in (LOOPBACK, Meeting("tcp", "localhost", 1)):
        with pytest.raises(UsageError, match=r"any account of this host.*--tls.*--plain"):
            check_network(here, None, "--", plain=False)
    with pytest.raises(UsageError, match=r"other hosts.*--fleet-tls.*--fleet-plain"):
        check_network(ELSEWHERE, None, "--fleet-", plain=False)
    with pytest.raises(UsageError, match="needs TLS certificates: name them with"):
        check_network(parse_meeting("tls://h:1", "agent"), None, "--", plain=True)
    with pytest.raises(UsageError, match="has no TLS: write it as tls://"):
        check_network(LOOPBACK, "certs", "--", plain=False)


def test_certificates_that_are_missing_are_named(tmp_path):
    for name in TLS_FILES:
        with pytest.raises(UsageError, match=name):
            tls_directory(str(tmp_path), "--")
        (tmp_path / name).touch()
    assert tls_directory(str(tmp_path), "--") == tmp_path


def test_a_fleet_drives_a_mix_of_a_server():
    mix = {"workload": "point-select", "clients": 4}
    assert asked(**mix, engine="postgresql", fleet=2).fleet == "2"
    assert asked(**mix, engine="null", fleet="2").fleet == "2"
    with pytest.raises(UsageError, match="can be driven from one host only,"):
        asked(**mix, engine="duckdb", fleet="2")
    with pytest.raises(UsageError, match="--clients 5 or more"):
        asked(**mix, engine="postgresql", fleet="5")
    with pytest.raises(UsageError, match="add --clients"):
        asked(workload="tpch", engine="postgresql", fleet="2")
    with pytest.raises(UsageError, match="a fixed order, which only a single host can count:"):
        asked(workload="bsbm", engine="sparql", dsn="http://h:1/q", clients=4, fleet="2")
    with pytest.raises(UsageError, match="--fleet and --slow"):
        asked(**mix, engine="postgresql", fleet="2", set={}, slow={"cpu": "2"})
    with pytest.raises(UsageError, match="add --fleet"):
        asked(**mix, engine="postgresql", fleet_plain=True)
    with pytest.raises(UsageError, match="local agents use the loopback interface"):
        asked(**mix, engine="postgresql", fleet="2", fleet_plain=True)
    with pytest.raises(UsageError, match="other hosts"):
        asked(**mix, engine="postgresql", fleet="tcp://10.0.0.5:8786")


def test_a_study_asks_for_a_fleet_by_a_plain_number():
    assert RunOptions.model_validate({"fleet": 3}).fleet == "3"


def test_an_agent_refuses_to_listen_to_everybody(capsys):
    assert run_command(["agent", "tcp://10.0.0.5:8786"]) == 1
    assert "--plain" in capsys.readouterr().err
    assert run_command(["agent", "somewhere"]) == 1
    assert "tcp://HOST:PORT" in capsys.readouterr().err
