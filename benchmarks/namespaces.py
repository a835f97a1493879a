"""Hosts made of network namespaces: a bridge of ours, and links to it with a rate limit.

Everything is named after this process and removed at the end, whatever happened.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

NETWORK = "10.253.71"
BURST, WAITS_AT_MOST = "32kbit", "100ms"


@dataclass(frozen=True)
class Network:
    """A bridge and the namespaces on it.

    Attributes:
        address: Of the bridge, on this host.
        hosts: Names of the namespaces.
        links: The end of each one's link on this host.
    """

    address: str
    hosts: tuple[str, ...]
    links: tuple[str, ...]

    def inside(self, host: int, command: list[str]) -> list[str]:
        """The command as it is run in a namespace; the process is the command's own."""
        return ["ip", "netns", "exec", self.hosts[host], *command]

    def limit(self, rate: str | None) -> None:
        """At most this rate in each direction between a host and the bridge; None: no limit."""
        for host, link in zip(self.hosts, self.links, strict=True):
            for where, device in ([], link), (["-n", host], "eth0"):
                with contextlib.suppress(RuntimeError):
                    output_of("tc", *where, "qdisc", "del", "dev", device, "root")
                if rate is not None:
                    shaped = ["tbf", "rate", rate, "burst", BURST, "latency", WAITS_AT_MOST]
                    output_of("tc", *where, "qdisc", "add", "dev", device, "root", *shaped)

    def limited(self, host: int) -> str:
        """What the kernel counted at the limit of a host's link, towards it."""
        return output_of("tc", "-s", "qdisc", "show", "dev", self.links[host])

    def cut(self, host: int) -> None:
        """Takes a host's link away: nothing comes through any more, and nobody is told."""
        output_of("ip", "link", "set", self.links[host], "down")

    def mend(self, host: int) -> None:
        """Puts it back."""
        output_of("ip", "link", "set", self.links[host], "up")


def output_of(*command: str) -> str:
    """What a command prints. Raises `RuntimeError` with its complaint."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


@contextmanager
def network(hosts: int) -> Iterator[Network]:
    """A bridge with so many hosts."""
    mark = f"{os.getpid() % 100_000:05d}"
    bridge = f"asbr{mark}"
    names = tuple(f"assay-host-{mark}-{number}" for number in range(hosts))
    links = tuple(f"asv{mark}n{number}" for number in range(hosts))
    try:
        output_of("ip", "link", "add", bridge, "type", "bridge")
        output_of("ip", "addr", "add", f"{NETWORK}.1/24", "dev", bridge)
        output_of("ip", "link", "set", bridge, "up")
        for number, (name, link) in enumerate(zip(names, links, strict=True)):
            output_of("ip", "netns", "add", name)
            peer = ["peer", "name", "eth0", "netns", name]
            output_of("ip", "link", "add", link, "type", "veth", *peer)
            output_of("ip", "link", "set", link, "master", bridge)
            output_of("ip", "link", "set", link, "up")
            output_of("ip", "-n", name, "addr", "add", f"{NETWORK}.{number + 10}/24", "dev", "eth0")
            for device in ("eth0", "lo"):
                output_of("ip", "-n", name, "link", "set", device, "up")
        yield Network(f"{NETWORK}.1", names, links)
    finally:
        for command in (
            *(["link", "del", link] for link in links),
            *(["netns", "del", name] for name in names),
            ["link", "del", bridge],
        ):
            with contextlib.suppress(RuntimeError):
                output_of("ip", *command)
