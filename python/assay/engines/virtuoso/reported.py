"""Reads a Virtuoso server's own report: version, settings, buffer pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.contract import Cached
from assay.engines.virtuoso.connecting import file_text
from assay.model.secrets import is_secret

if TYPE_CHECKING:
    from assay.engines.bridge.link import Link

# Counters that show settings in effect, whatever the configuration says.
IN_EFFECT = ("dc_batch_sz", "dc_max_batch_sz", "enable_qp")


def version(link: Link) -> str:
    """Return the server's version, such as `07.20.3229`."""
    ((version_text,),) = link.text(file_text("version.sql"))
    return str(version_text)


def settings(link: Link) -> dict[str, str]:
    """Return the configuration that the server was started with, by section and name."""
    configuration: dict[str, str] = {}
    for section in _sections(link):
        count = link.ask(file_text("settings_of_section.sql"), (section,))
        for number in range(int(count[0][0].as_py() or 0)):
            name, value = _setting(link, section, number)
            if not is_secret(name):
                configuration[f"{section}.{name}"] = value
    for name in IN_EFFECT:
        configuration[name] = str(link.ask(file_text("in_effect.sql"), (name,))[0][0].as_py())
    return configuration


def cached(link: Link) -> list[Cached]:
    """Return the buffer pool's bytes of Assay's tables and indexes, largest first."""
    rows = link.ask(file_text("cached.sql")).to_pylist()
    return [
        Cached(
            row["key_of"]
            if row["index_of"] == row["key_of"]
            else f"{row['key_of']} {row['index_of']}",
            int(row["cached_bytes"]),
        )
        for row in rows
    ]


def _sections(link: Link) -> list[str]:
    ((count,),) = link.text(file_text("sections.sql"))
    asked = file_text("section.sql")
    return [str(link.ask(asked, (number,))[0][0].as_py()) for number in range(int(count or 0))]


def _setting(link: Link, section: str, number: int) -> tuple[str, str]:
    name = str(link.ask(file_text("setting.sql"), (section, number))[0][0].as_py())
    return name, str(link.ask(file_text("setting_value.sql"), (section, name))[0][0].as_py())
