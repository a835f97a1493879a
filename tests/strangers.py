"""Requests to a private server by a process that has no password, or a wrong one."""

from __future__ import annotations

import base64
import http.client
from pathlib import Path

PATIENCE_S = 60.0
LISTENS = "0A"
WRONG = base64.b64encode(b"assay:wrong").decode()
HEADERS = ({}, {"Authorization": f"Basic {WRONG}"}, {"Authorization": "Basic Og=="})


def listening_ports(pids: list[int]) -> set[int]:
    """The TCP ports on which processes listen."""
    sockets = set()
    for pid in pids:
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            try:
                sockets.add(str(descriptor.readlink()))
            except OSError:  # It was closed meanwhile.
                continue
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENS and f"socket:[{fields[9]}]" in sockets:
                ports.add(int(fields[1].rpartition(":")[2], 16))
    return ports


def statuses(port: int, method: str, target: str, body: str | None = None) -> set[int]:
    """The statuses of answers to requests without a password, and with wrong ones."""
    seen = set()
    for headers in HEADERS:
        for host in (f"127.0.0.1:{port}", "elsewhere"):
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
            kind = {"Content-Type": "application/sparql-update"} if body is not None else {}
            line.request(method, target, body, {**headers, **kind, "Host": host})
            with line.getresponse() as answer:
                seen.add(answer.status)
            line.close()
    return seen


def shown_by_processes(secrets: list[str]) -> set[str]:
    """The command lines and environments of this host that contain a secret."""
    shown = set()
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        for file in (process / "cmdline", process / "environ"):
            try:
                content = file.read_bytes()
            except OSError:
                continue
            if any(secret.encode() in content for secret in secrets):
                shown.add(str(file))
    return shown
