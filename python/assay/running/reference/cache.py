"""Caches expected rows for later runs: one file each, named by a hash of its inputs."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import time
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

REFERENCES = "references"
PARTIAL = ".partial"
# Writing a file takes less time than this; an older partial file is from a killed process.
PARTIAL_AGE_MAX_S = 3600.0


class ReferenceCache:
    """A cache of expected rows that many processes can use."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def find(self, key: list[Any]) -> dict[str, Any] | None:
        """Return the cached expected rows under a key; None if there are none."""
        path = self._path(key)
        try:
            head, _, text = path.read_text(encoding="utf-8").partition("\n")
            if hashlib.sha256(text.encode()).hexdigest() == head:
                kept: dict[str, Any] = json.loads(text)
                return kept
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            log.warning("%s cannot be read: %s", path, error)
        log.warning("%s is damaged, so Assay makes it again", path)
        return None

    def keep(self, key: list[Any], answer: dict[str, Any]) -> None:
        """Store expected rows in the cache; failures are ignored.

        A failure is ignored, because the answer can be computed again.
        """
        text = json.dumps(answer, ensure_ascii=False)
        head = hashlib.sha256(text.encode()).hexdigest()
        partial = None
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(PARTIAL, dir=self._root)
            partial = Path(name)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(f"{head}\n{text}")
            partial.rename(self._path(key))
        except OSError as error:
            log.warning("the reference rows could not be stored: %s", error)
            if partial is not None:
                partial.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove partial cache files of processes that were killed while writing."""
        for partial in self._root.glob(f"*{PARTIAL}"):
            try:
                if time.time() - partial.stat().st_mtime > PARTIAL_AGE_MAX_S:
                    partial.unlink()
            except FileNotFoundError:
                continue

    def _path(self, key: list[Any]) -> Path:
        return self._root / hashlib.sha256(json.dumps(key).encode()).hexdigest()[:32]
