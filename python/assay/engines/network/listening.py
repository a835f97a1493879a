"""Finds the local process that listens on a port, to measure its CPU time."""

from __future__ import annotations

from pathlib import Path

TABLES = ("tcp", "tcp6")
LISTENS = "0A"
# Proxies that forward to a server in another process namespace, which is not visible here.
PROXIES = ("docker-proxy", "rootlessport", "slirp4netns", "ssh", "sshd")


def listener(port: int, proc: Path = Path("/proc")) -> int | None:
    """Return the pid that listens on a TCP port; None if it is unknown or a proxy."""
    sockets = {f"socket:[{inode}]" for inode in _listening(port, proc)}
    if not sockets:
        return None
    pids = sorted(int(path.name) for path in proc.iterdir() if path.name.isdigit())
    # The first process opened the socket; its children may have inherited it.
    for pid in pids:
        if _has(proc / str(pid) / "fd", sockets):
            return None if _name(proc / str(pid)) in PROXIES else pid
    return None


def _listening(port: int, proc: Path) -> set[str]:
    """Return the inodes of the sockets that listen on a port."""
    inodes = set()
    for table in TABLES:
        try:
            lines = (proc / "net" / table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(fields[9])
    return inodes


def _has(descriptors: Path, sockets: set[str]) -> bool:
    try:
        links = list(descriptors.iterdir())
    except OSError:
        return False
    for link in links:
        try:
            if str(link.readlink()) in sockets:
                return True
        except OSError:  # The descriptor was closed meanwhile.
            continue
    return False


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
