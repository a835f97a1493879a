"""While a run measures a private Trino cluster, the cluster refuses other accounts of the host."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path

import pytest

from assay.engines.bridge.errors import BridgeError
from assay.engines.bridge.link import Link
from assay.engines.network.tokens import bearer, signed_token
from assay.engines.trino.connecting import FORWARDED, TOKEN, USER
from assay.engines.trino.credentials import CERTIFICATE_FILE, KEY_FILE
from tests.e2e.conftest import Lab, end, wait_for_phase
from tests.products import installed
from tests.strangers import (
    HOST,
    files_with,
    http_status,
    ports_of,
    readable_by_others,
    shown_by_processes,
)

MEASURING = ["run", "tpch", "--engine", "trino", "--scale", "0.01", "-o", "q13"]
START_PATIENCE_S = 500
PATIENCE_S = 60.0
NODES = 3
REFUSALS = {401, 403}
# What a node answers to a path that it does not have, before it looks who asks.
MISSING = 404
SECRET = "internal-communication.shared-secret"  # noqa: S105 - where it is, not what it is
TASK = "/v1/task/20260101_000000_00000_aaaaa.0.0"
OF_NODES = (
    ("GET", "/v1/task", None),
    ("POST", TASK, "{}"),
    ("DELETE", TASK, None),
    ("GET", f"{TASK}/results/0/0", None),
    ("GET", "/v1/jmx/mbean", None),
    ("GET", "/v1/thread", None),
    ("POST", "/v1/memory", "{}"),
    ("PUT", "/v1/info/state", '"SHUTTING_DOWN"'),
)
OF_COORDINATOR = (
    ("POST", "/v1/statement", "select 1"),
    ("GET", "/v1/query", None),
    ("GET", "/v1/node", None),
    ("GET", "/v1/service", None),
    ("PUT", "/v1/announcement/stranger", "{}"),
)
WEB_INTERFACE = ("GET", "/ui/api/cluster", None)


def properties(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text("utf-8").splitlines())


def ways_of_strangers() -> list[dict[str, str]]:
    """Headers of requests by which somebody without a secret may try to come in."""
    # Trino's own secret of nodes, where none is configured, is the name of their environment.
    guessed = signed_token(hashlib.sha256(b"assay").digest(), "worker-1")
    user, forged = {"X-Trino-User": USER}, bearer(signed_token(b"?" * 32, USER))
    basic = {"Authorization": "Basic " + base64.b64encode(b"assay:assay").decode()}
    ways = [{}, user, user | forged, user | basic]
    return [
        *ways,
        *(way | FORWARDED for way in ways),
        {"X-Trino-Internal-Bearer": guessed},
        {"X-Trino-Internal-Bearer": guessed} | FORWARDED,
    ]


def statuses(
    port: int,
    requests: Iterable[tuple[str, str, str | None]],
    headers: dict[str, str],
    trusted: Path | None,
) -> set[int | None]:
    """The statuses of answers to requests with these headers."""
    content = {"Content-Type": "application/json"}
    return {
        http_status(port, path, method, headers | content, body, trusted)
        for method, path, body in requests
    }


def connect(lab: Lab, port: str, certificate: Path, given: dict[str, str]) -> None:
    (bridge,) = lab.instances.glob("*/server/bridge.sock")
    url = f"jdbc:trino://{HOST}:{port}/lake/assay?SSL=true&SSLTrustStorePath={certificate}"
    address = {"socket": str(bridge), "url": url, "properties": {"user": USER, **given}}
    with Link.connect(address, PATIENCE_S) as link:
        link.run("select 1")


def test_strangers_are_refused_on_every_port(server_lab: Lab) -> None:
    installed("trino")
    started = server_lab.begin(*MEASURING, "--set", "workers=2", "--min-time", "600s")
    run = wait_for_phase(server_lab, started, "measured", START_PATIENCE_S)
    (server,) = server_lab.instances.glob("*/server")
    place, of_coordinator = server / "credentials", server / "coordinator" / "config.properties"
    assert readable_by_others(place) == []
    assert of_coordinator.stat().st_mode & 0o077 == 0
    configured = properties(of_coordinator)
    key = (place / KEY_FILE).read_text("ascii")
    token = signed_token(base64.b64decode(key), USER)
    secrets = (key, token, token.split(".")[-1], configured[SECRET])

    ports = set(ports_of(server_lab.strays()))
    tls, plain = configured["http-server.https.port"], configured["http-server.http.port"]
    assert len(ports) == NODES + 1
    right = {"X-Trino-User": USER, **bearer(token), **FORWARDED}
    assert http_status(int(plain), "/v1/query", headers=right) == 200
    certificate = place / CERTIFICATE_FILE
    for port in ports:
        trusted = certificate if port == int(tls) else None
        also = set() if port in {int(tls), int(plain)} else {MISSING}
        for way in ways_of_strangers():
            assert statuses(port, OF_NODES, way, trusted) <= REFUSALS
            assert statuses(port, OF_COORDINATOR, way, trusted) <= REFUSALS | also
            assert statuses(port, [WEB_INTERFACE], way, trusted) <= REFUSALS | {MISSING}

    connect(server_lab, tls, certificate, {TOKEN: token})
    for wrong in ({}, {TOKEN: signed_token(b"?" * 32, USER)}, {"password": "assay"}):
        with pytest.raises(BridgeError, match=r"(?i)unauthorized|authenticat"):
            connect(server_lab, tls, certificate, wrong)

    assert set(shown_by_processes(secrets)) == set()
    code, errors = end(started)
    assert code != 0
    assert "Traceback" not in errors
    assert files_with(secrets, run, server_lab.root / "state") == []
    server_lab.assert_nothing_left()
