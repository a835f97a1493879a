"""Reads the directory of an installed Trino: version, jars, configuration names."""

from __future__ import annotations

import re
import struct
import zipfile
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from assay.engines.bridge.jre import java_version
from assay.engines.contract import EngineError
from assay.engines.programs import MEND

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from assay.engines.contract import Product

# The only plugin of a private cluster, which starts in half the time without the other forty.
CONNECTOR = "hive"
# Maximum Java version: a library for files uses a call that later versions removed.
JAVA_MAX = 22
_MAIN = re.compile(r"trino-main-(\d[\w.-]*)\.jar")
_NAME = re.compile(rb"[a-z][a-z0-9]*(?:[.-][a-z0-9-]+)+")
_ANNOTATION = b"Lio/airlift/configuration/Config;"
# Tags in a class file: of a text, and of all other constants with their lengths.
_TEXT = 1
_LENGTHS = {3: 5, 4: 5, 5: 9, 6: 9, 7: 3, 8: 3, 9: 5, 10: 5, 11: 5, 12: 5, 15: 4, 16: 3, 17: 5}
_LENGTHS |= {18: 5, 19: 3, 20: 3}
_TAKES_TWO = (5, 6)
_COUNT_AT = 8


@dataclass(frozen=True)
class Programs:
    """An installed Trino, with its jars and connectors."""

    home: Path
    version: str

    @property
    def classes(self) -> str:
        """Return the class path of Trino's Java."""
        return f"{self.home / 'lib'}/*"

    @property
    def plugin(self) -> Path:
        """Return the directory of the connector for files."""
        return self.home / "plugin" / CONNECTOR

    def server_names(self) -> frozenset[str]:
        """Return the property names of a Trino node's configuration."""
        return _names(self.home / "lib")

    def catalog_names(self) -> frozenset[str]:
        """Return the property names of Trino's catalog configuration."""
        return _names(self.plugin)


def find_programs(product: Product) -> Programs:
    """Return the programs of an installed Trino.

    Raises `EngineError` if the directory is not an installed Trino.
    """
    if product.home is None:
        raise EngineError("Trino is not installed: install it with `assay engines install`.")
    for home in (product.home, *sorted(product.home.glob("trino-server-*"))):
        for jar in sorted((home / "lib").glob("trino-main-*.jar")):
            match = _MAIN.fullmatch(jar.name)
            if match and (home / "plugin" / CONNECTOR).is_dir():
                return Programs(home, match[1])
    raise EngineError(
        f"{product.home} has no Trino (lib/trino-main-*.jar and plugin/{CONNECTOR}): name the "
        "directory that contains them with --bin-dir."
    )


def check_java(java: Path) -> None:
    """Raise `EngineError` for a Java that is too old or too new for the installed Trino."""
    version = java_version(java)
    if not version:
        raise EngineError(f"{java} does not run on this host. {MEND}")
    if version > JAVA_MAX:
        raise EngineError(
            f"Trino needs Java 17 to {JAVA_MAX}, and {java} is version {version}: install a "
            "suitable one (on Debian:"
            " `apt-get install openjdk-17-jre-headless`) and name it in JAVA_HOME."
        )


@cache
def _names(directory: Path) -> frozenset[str]:
    """Return texts in Java configuration classes that look like property names."""
    names: set[str] = set()
    for jar in sorted(directory.glob("*.jar")):
        try:
            with zipfile.ZipFile(jar) as archive:
                for entry in archive.namelist():
                    if entry.endswith("Config.class"):
                        names |= property_names(archive.read(entry))
        except (OSError, zipfile.BadZipFile, struct.error, KeyError, IndexError) as error:
            raise EngineError(
                f"{jar} cannot be read ({error!r}): remove Trino from the cache and try again."
            ) from error
    return frozenset(names)


def property_names(class_file: bytes) -> set[str]:
    """Return the property names in a Java configuration class; empty for other classes."""
    texts = set(_texts(class_file))
    if _ANNOTATION not in texts:
        return set()
    return {text.decode() for text in texts if _NAME.fullmatch(text)}


def _texts(class_file: bytes) -> Iterator[bytes]:
    """Yield the texts among the constants of a Java class file."""
    (count,) = struct.unpack_from(">H", class_file, _COUNT_AT)
    at, number = _COUNT_AT + 2, 1
    while number < count:
        tag = class_file[at]
        if tag == _TEXT:
            (length,) = struct.unpack_from(">H", class_file, at + 1)
            yield class_file[at + 3 : at + 3 + length]
            at += 3 + length
        else:
            at += _LENGTHS[tag]
        number += 2 if tag in _TAKES_TWO else 1
