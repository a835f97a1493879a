"""Requests to the ports of a private server without its password, or with a wrong one."""

from __future__ import annotations

import base64
import http.client
import socket
import ssl
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from assay.engines.network.listening import TABLES

HOST, PATIENCE_S = "127.0.0.1", 60.0
LISTENS = "0A"
# A request for the data of Spark's RPC: its type, its number, the length of its body, its body.
REQUEST, FAILURE = 3, 5
BODY = b"\x00anonymous"
WRONG = base64.b64encode(b"assay:wrong").decode()
HEADERS = ({}, {"Authorization": f"Basic {WRONG}"}, {"Authorization": "Basic Og=="})


def ports_of(pids: Iterable[int]) -> dict[int, int]:
    """The TCP ports on which processes listen, with the process of each."""
    inodes = {}
    for table in TABLES:
        for line in Path("/proc/net", table).read_text("ascii").splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENS:
                inodes[f"socket:[{fields[9]}]"] = int(fields[1].rpartition(":")[2], 16)
    ports = {}
    for pid in pids:
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            try:
                port = inodes.get(str(descriptor.readlink()))
            except OSError:  # It was closed meanwhile.
                continue
            if port is not None:
                ports[port] = pid
    return ports


def http_status(
    port: int,
    path: str,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
    trusted: Path | None = None,
) -> int | None:
    """The status of an answer, over TLS where `trusted` is the server's certificate.

    None where the port does not speak HTTP.
    """
    if trusted is None:
        line = http.client.HTTPConnection(HOST, port, timeout=PATIENCE_S)
    else:
        tls = ssl.create_default_context(cafile=trusted)
        line = http.client.HTTPSConnection(HOST, port, timeout=PATIENCE_S, context=tls)
    try:
        line.request(method, path, body, dict(headers or {}))
        return line.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        line.close()


def statuses(port: int, method: str, path: str, update: str | None = None) -> set[int | None]:
    """The statuses of answers to a SPARQL request without a password, and with wrong ones."""
    kind = {} if update is None else {"Content-Type": "application/sparql-update"}
    return {
        http_status(port, path, method, {**headers, **kind, "Host": host}, update)
        for headers in HEADERS
        for host in (f"{HOST}:{port}", "elsewhere")
    }


def answer_to_rpc(port: int) -> str:
    """The error that a port of Spark's RPC answers to a request without the shared secret."""
    request = struct.pack(">bqi", REQUEST, 1, len(BODY)) + BODY
    with socket.create_connection((HOST, port), PATIENCE_S) as line, line.makefile("rb") as answers:
        line.sendall(struct.pack(">q", len(request) + 8) + request)
        (length,) = struct.unpack(">q", answers.read(8))
        answer = answers.read(length - 8)
    assert answer[0] == FAILURE
    return answer[1:].decode(errors="replace")


def files_with(secrets: Iterable[str], *places: Path) -> list[Path]:
    sought = [secret.encode() for secret in secrets]
    files = [file for place in places for file in place.rglob("*") if file.is_file()]
    return [file for file in files if any(secret in file.read_bytes() for secret in sought)]


def shown_by_processes(secrets: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the file of the kernel, and the name of the variable or argument, with a secret."""
    sought = [secret.encode() for secret in secrets]
    for process in Path("/proc").iterdir():
        for file in ("cmdline", "environ"):
            try:
                words = (process / file).read_bytes().split(b"\0")
            except OSError:  # It is no process, or it ended meanwhile.
                continue
            for word in words:
                if any(secret in word for secret in sought):
                    yield file, word.split(b"=")[0].decode()


def readable_by_others(directory: Path) -> list[Path]:
    """Files below a directory that accounts other than its owner could open."""
    if directory.stat().st_mode & 0o077 == 0:
        return []
    return [file for file in directory.rglob("*") if file.stat().st_mode & 0o077]
