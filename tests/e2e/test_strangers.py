"""While a private SPARQL server is measured, nobody without its password is answered."""

from __future__ import annotations

import base64

import pytest

from tests.e2e.conftest import PATIENCE_S, Lab, wait_for_phase
from tests.e2e.test_running_server import assert_is_nowhere_within
from tests.products import obtained
from tests.strangers import ports_of, shown_by_processes, statuses

# Files of an instance that have its passwords, and the settings of a small server.
ENGINES = {
    "fuseki": (("server/passwords",), ("heap=512m",)),
    "virtuoso": (
        ("data/virtuoso/password", "data/virtuoso/web-password"),
        ("NumberOfBuffers=20000",),
    ),
}
PATHS = ("/ds/query?query=ask%7B%7D", "/sparql?query=ask%7B%7D", "/", "/$/metrics", "/virtuoso.qrl")
# None: the port does not speak HTTP.
REFUSED = {401, 403, None}
RUN = ("run", "bsbm-explore-and-update", "--scale", "50", "--no-plans", "--warmup", "0s")


@pytest.mark.parametrize("name", ENGINES)
def test_a_run_is_closed_to_strangers_and_shows_no_password(name: str, server_lab: Lab) -> None:
    obtained(name)
    files, settings = ENGINES[name]
    chosen = [word for setting in settings for word in ("--set", setting)]
    started = server_lab.begin(*RUN, "--time", "10s", "--engine", name, *chosen)
    record = wait_for_phase(server_lab, started, "measured")
    (instance,) = server_lab.instances.iterdir()
    secrets = [(instance / file).read_text().strip().rpartition(" ")[2] for file in files]
    ports = ports_of(server_lab.strays())
    answers = {(port, path): statuses(port, "GET", path) for port in ports for path in PATHS}
    shown = list(shown_by_processes(secrets))
    printed = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 0, printed
    assert ports
    assert {place: seen for place, seen in answers.items() if not seen <= REFUSED} == {}
    assert any(seen == {401} for seen in answers.values())
    assert shown == []
    for secret in secrets:
        header = base64.b64encode(f"assay:{secret}".encode()).decode()
        assert not any(word in text for word in (secret, header) for text in printed)
        assert_is_nowhere_within(secret, record)
        assert_is_nowhere_within(header, record)
    server_lab.close()
    server_lab.assert_nothing_left()
