"""The facts that are kept beside rows that a user recorded as answers of their own queries."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# In the folder of the rows, which are a CSV file an operation.
KEPT_FILE = "kept.json"
SCHEMA = 1


@dataclass(frozen=True)
class KeptAnswer:
    """The answer of one operation in one state of the data.

    Attributes:
        rows: How many there are.
        digest: Digest of the rows, whatever their order.
        text_sha256: SHA-256 of the statement whose answer it is.
        ordered_by: Columns by which the statement orders its rows; empty: in any order.
        floats: Columns that are compared within a tolerance.
        cut: Ends at which the statement cuts its rows off, `first` or `last`: rows that tie there
            may be others.
        kept_utc: When it was kept.
        engine: Title and version of the engine that gave it.
        server: Where that was, without a password; None: a private engine.
        run: The run whose rows they are.
    """

    rows: int
    digest: str
    text_sha256: str
    ordered_by: list[str]
    floats: list[str]
    cut: list[str]
    kept_utc: str
    engine: str
    server: str | None
    run: str

    @property
    def state(self) -> str:
        """Say which state of the data it is of, as `2026-11-24 18:40 UTC, PostgreSQL 18.6`."""
        return f"{self.kept_utc[:16].replace('T', ' ')} UTC, {self.engine}"


def text_digest(text: str) -> str:
    """Return the digest by which a statement is known again; blanks do not count."""
    return sha256(" ".join(text.split()).encode()).hexdigest()


def read_kept_answers(folder: Path) -> dict[str, KeptAnswer]:
    """Return what was kept in a folder, by operation; empty where nothing was.

    Raises:
        ValueError: If the file cannot be read as one of this kind.
    """
    path = folder / KEPT_FILE
    if not path.is_file():
        return {}
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        schema, answers = facts["schema"], from_facts(facts["operations"])
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    if schema != SCHEMA:
        raise ValueError(f"{path} is of schema {schema}, and this Assay knows {SCHEMA}")
    return answers


def from_facts(operations: Mapping[str, Mapping[str, object]]) -> dict[str, KeptAnswer]:
    """Return answers from their JSON values."""
    return {name: KeptAnswer(**facts) for name, facts in operations.items()}  # type: ignore[arg-type]


def kept_facts(answers: Mapping[str, KeptAnswer]) -> dict[str, object]:
    """Return answers as JSON values, in alphabetical order."""
    return {name: asdict(answer) for name, answer in sorted(answers.items())}


def write_kept_answers(folder: Path, answers: Mapping[str, KeptAnswer]) -> None:
    """Write what was kept beside its rows, at one go."""
    document = {"schema": SCHEMA, "operations": kept_facts(answers)}
    partial = folder / f"{KEPT_FILE}.partial"
    partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    partial.rename(folder / KEPT_FILE)
