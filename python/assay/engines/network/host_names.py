"""Looks up names of hosts in a way that Ctrl-C ends.

The system's resolver waits at least 10 s for name servers that do not answer. Meanwhile it handles
no signal, and libpq's resolver keeps Python's lock as well. Names are therefore looked up before a
client library connects.
"""

from __future__ import annotations

import ipaddress
import socket
import threading

# Longest time until a signal is handled.
LOOK_S = 0.1


def addresses_of(host: str) -> list[str]:
    """Return the addresses of a host in the order of the system's resolver, each once.

    An address is its own only address.

    Raises:
        OSError: If the name has no address, or no name server answers.
    """
    if _is_address(host):
        return [host]
    addresses: list[str] = []
    failures: list[OSError] = []
    is_done = threading.Event()

    def look_up() -> None:
        try:
            answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            addresses.extend(dict.fromkeys(str(answer[4][0]) for answer in answers))
        except UnicodeError as error:
            failures.append(OSError(f"no host can have this name: {error}"))
        except OSError as error:
            failures.append(error)
        finally:
            is_done.set()

    # The resolver cannot be stopped. A daemon thread does not delay the end of the process.
    threading.Thread(target=look_up, name="host-name", daemon=True).start()
    # A library may have waits go on after a signal, so this one is short.
    while not is_done.wait(LOOK_S):
        pass
    if failures:
        raise failures[0]
    return addresses


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
