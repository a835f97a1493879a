"""Removes passwords, tokens and keys from text that goes into a record, and from environments."""

import re
from collections.abc import Mapping

HIDDEN = "***"
_WORDS = (
    r"(?:passw(?:or)?d|passphrase|passcode|pwd|secret|token|credential|key_id"
    r"|(?:access|api|auth|encryption|private|pvt)_?key)"
)
_NAME = re.compile(rf"(?i){_WORDS}")
# Matches `name=value` with a secret's word anywhere in the name, as in
# `--set s3_secret_access_key=...`; the value may have spaces, quotes and backslashes like keywords
# of a DSN. The first parts look only once at a word of a megabyte that is no name.
_ASSIGNED = re.compile(
    r"(?is)(?<![\w.-])(?=[\w.-]*+\s*+=)"
    rf"([\w.-]*{_WORDS}[\w.-]*+)\s*=\s*('(?:\\.|[^'\\])*'|(?:\\.|\S)+)"
)
# Matches up to the last `@`, because an `@` in a password is often not escaped.
_IN_URL = re.compile(r"(?<=://)([^/@:\s]*):(\S*)@")
# Matches an address without its scheme, or one that lost a slash as the name of a file. It also
# matches texts such as `12:30@home`, so it is for messages only.
_IN_ADDRESS = re.compile(r"(?<![^\s/'\"(=])([^/@:\s'\"(=]+):(?!/)(\S+)@")
# Matches the form of Oracle's driver: `jdbc:oracle:thin:user/password@host`.
_IN_JDBC = re.compile(r"(?i)(\bjdbc:[\w:]+:[^/@:\s]+)/([^/@\s]\S*)@")
# Matches SQL's form: `password 'value'`.
_IN_SQL = re.compile(rf"(?is)(\b\w*{_WORDS}|\bidentified\s+by)(\s+)(?:e?'(?:\\.|''|[^'\\])*')")

_HIDDEN_PART = re.compile(
    rf"(?i)[:/]{re.escape(HIDDEN)}(?=@)|\b[\w.-]*{_WORDS}[\w.-]*={re.escape(HIDDEN)}\s*"
)


def is_secret(name: str) -> bool:
    """Return True if a setting may hold a secret, by its name."""
    return _NAME.search(name) is not None


def environment_without_secrets(
    environment: Mapping[str, str], kept: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return environment variables without those that may hold a secret, by their names.

    Args:
        environment: Values of variables by name.
        kept: Prefixes of names whose variables stay.
    """
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(kept) or not is_secret(name)
    }


def without_secrets(text: str) -> str:
    """Return text without passwords in URLs and values of `password=...` and similar keys."""
    text = _IN_JDBC.sub(rf"\1/{HIDDEN}@", _IN_URL.sub(rf"\1:{HIDDEN}@", text))
    return _ASSIGNED.sub(rf"\1={HIDDEN}", text)


def message_without_secrets(text: str) -> str:
    """Return a message without passwords, also without those of addresses that cannot be read."""
    return _IN_ADDRESS.sub(rf"\1:{HIDDEN}@", without_secrets(text))


def dsn_without_password(dsn: str) -> str:
    """Return a DSN with its password removed.

    A client then takes the password from its environment or prompts for it.
    """
    return _HIDDEN_PART.sub("", without_secrets(dsn)).strip()


def sql_without_secrets(text: str) -> str:
    """Return SQL text without secrets, including values behind a word: `password 'value'`."""
    return without_secrets(_IN_SQL.sub(rf"\1\2'{HIDDEN}'", text))
