"""Addresses of a database behind JDBC: URL, driver properties, the bridge's socket.

Keys of an address: `url`, `properties`, `setup` (statements that each connection executes first),
`socket`. An address may hold a password, so it is sent over sockets only.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from assay.engines.contract import EngineError
from assay.engines.typed_password import password_for, refuse_second
from assay.model.secrets import is_secret

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from assay.engines.contract import Address

USER_VARIABLE = "JDBC_USER"
PASSWORD_VARIABLE = "JDBC_PASSWORD"  # noqa: S105 - where it is, not what it is
# Hiding a shorter secret would make messages unreadable.
SECRET_MIN = 3
PASSWORD_NAMES = ("password", "pwd")
_URL = re.compile(r"jdbc:[\w.+-]+:\S*")
_PROPERTY = re.compile(r"([\w.-]+)=")
# Ends of a property's value: a driver has one of them, and takes the others as part of the value.
_ENDS = (r"[&;\s]", r"[&;/\s]", r"[&;/,)\s]")
# SQL Server's form of a value with any character, such as `{a;b}`; `}}` in it is one `}`.
_BRACED = re.compile(r"\{((?:[^}]|\}\})*)\}")
_USERINFO = re.compile(r"//[^/@:\s]*:(\S*)@")
# A URL with several hosts may have a password at each.
_USERINFO_OF_HOST = re.compile(r"(?://|,)[^/@:,\s]*:([^@\s]*)@")
_THIN = re.compile(r":[^/@:\s]+/([^/@\s]\S*)@")


def read_dsn(dsn: str) -> Address:
    """Return the address in a JDBC URL; user and password may be in the environment.

    Raises:
        EngineError: If the text is not a valid DSN. The error message does not quote it.
    """
    if not _URL.fullmatch(dsn):
        raise EngineError(
            "the DSN cannot be read: write it in the driver's own form, such as "
            "jdbc:postgresql://host/database?user=NAME, with the password in "
            f"{PASSWORD_VARIABLE} or in the DSN"
        )
    for name, value in _properties(dsn):
        if name.lower() in PASSWORD_NAMES:
            refuse_second(unquote(value))
    credentials = {
        "user": os.environ.get(USER_VARIABLE),
        "password": password_for(None, PASSWORD_VARIABLE),
    }
    properties = {name: value for name, value in credentials.items() if value}
    return {"url": dsn, "properties": properties}


def hidden(address: Mapping[str, Any]) -> list[str]:
    """Return the secret parts of a database's address, the longest first."""
    url: str = address["url"]
    pairs = [*address.get("properties", {}).items(), *_properties(url)]
    passwords = [value for name, value in pairs if is_secret(name)]
    for pattern in (_USERINFO, _USERINFO_OF_HOST, _THIN):
        passwords += pattern.findall(url)
    passwords += [password.strip('"') for password in passwords]
    both = {*passwords, *map(unquote, passwords)}
    return sorted((word for word in both if len(word) >= SECRET_MIN), key=len, reverse=True)


def _properties(url: str) -> Iterator[tuple[str, str]]:
    """Yield each property in a URL with every value that a driver may read there."""
    for match in _PROPERTY.finditer(url):
        rest = url[match.end() :]
        for end in _ENDS:
            yield match[1], re.split(end, rest, maxsplit=1)[0]
        if braced := _BRACED.match(rest):
            yield match[1], braced[1].replace("}}", "}")


def session_config(address: Address) -> str:
    """Return the configuration of JDBC sessions as JSON, which may hold a password."""
    return json.dumps(
        {
            "socket": address["socket"],
            "url": address["url"],
            "properties": list(address.get("properties", {}).items()),
            "setup": list(address.get("setup", ())),
            "hidden": hidden(address),
        }
    )
