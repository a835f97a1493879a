"""Trino as a person uses it, where it was brought (`make cluster`), which are 650 MB.

One cluster serves all of it: it is loaded, measured, asked as one that runs already, and loses a
node.
"""

from __future__ import annotations

import base64
import json
import os
import signal
from pathlib import Path
from urllib.parse import urlencode

import pytest

from assay.engines.network.tokens import signed_token
from assay.engines.trino.connecting import TOKEN, TRUSTED
from assay.engines.trino.credentials import CERTIFICATE_FILE, KEY_FILE
from tests.e2e.conftest import Lab, wait_for_phase
from tests.products import installed
from tests.strangers import files_with

ENGINE = ["--engine", "trino", "--scale", "0.01"]
QUERY = ["--operation", "q13"]
MEASURING = ["run", "tpch", *ENGINE, *QUERY, "--min-time", "600s"]
# Two clusters start before anything is measured: one that is loaded, and one on what it left.
START_PATIENCE_S, PATIENCE_S = 500, 120


@pytest.fixture(autouse=True)
def _brought() -> None:
    installed("trino")


def address_with_token(lab: Lab) -> str:
    """The address of a run's own cluster, with a token that is signed by the cluster's key."""
    (file,) = lab.instances.glob("*/server/coordinator/config.properties")
    properties = dict(line.split("=", 1) for line in file.read_text(encoding="utf-8").splitlines())
    secrets = file.parents[1] / "credentials"
    key = base64.b64decode((secrets / KEY_FILE).read_text("ascii"))
    given = {TOKEN: signed_token(key, "someone"), TRUSTED: secrets / CERTIFICATE_FILE}
    port = properties["http-server.https.port"]
    return f"trino://someone@127.0.0.1:{port}/lake/assay?{urlencode(given)}"


def nodes_of(run: Path) -> dict[str, int]:
    """The process of each node of a run's own cluster."""
    document = json.loads((run / "run.json").read_text(encoding="utf-8"))
    return {node["name"]: node["pids"][0] for node in document["cluster"]["nodes"]}


def test_a_cluster_is_loaded_asked_by_another_run_and_loses_a_node(server_lab: Lab) -> None:
    started = server_lab.begin(*MEASURING)
    own = wait_for_phase(server_lab, started, "measured", START_PATIENCE_S)
    dsn = address_with_token(server_lab)
    asked = server_lab.document(
        "run", "tpch", "--dsn", dsn, "--scale", "0.01", *QUERY, "--min-time", "1s"
    )
    assert files_with([dsn.split(f"{TOKEN}=")[1].split("&")[0]], Path(asked["path"])) == []
    assert asked["engine"] == "trino"
    answers = next(check for check in asked["checks"] if check["check"] == "answers")
    assert (answers["verdict"], answers["reason"][:6]) == ("valid", "1 of 1"), answers
    document = json.loads((Path(asked["path"]) / "run.json").read_text(encoding="utf-8"))
    roles = {node["name"]: (node["role"], node["pids"]) for node in document["cluster"]["nodes"]}
    assert roles == {
        "coordinator": ("coordinator", []),
        "worker-1": ("worker", []),
        "worker-2": ("worker", []),
    }
    os.kill(nodes_of(own)["worker-2"], signal.SIGKILL)
    _, errors = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 2, errors
    assert "Traceback" not in errors
    assert "Trino ended unexpectedly: the worker-2 was ended by signal 9" in errors
    assert json.loads((own / "run.json").read_text(encoding="utf-8"))["status"] == "failed"
    server_lab.assert_nothing_left()


def test_what_cannot_be_is_told_before_anything_is_started(server_lab: Lab) -> None:
    for given, said in (
        ("exchange.max-bufer-size=1MB", "did you mean 'exchange.max-buffer-size'"),
        ("workers=0", "from 1 to 64"),
    ):
        refused = server_lab.assay("run", "tpch", *ENGINE, "--set", given)
        assert refused.returncode == 1
        assert said in refused.stderr


def test_a_cluster_that_is_not_there_is_told(server_lab: Lab) -> None:
    refused = server_lab.assay("run", "tpch", "--dsn", "trino://me@127.0.0.1:9/lake/assay", *QUERY)
    assert refused.returncode == 1
    assert "127.0.0.1:9 does not respond like a Trino coordinator" in refused.stderr
