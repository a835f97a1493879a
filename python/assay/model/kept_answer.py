"""Reads and writes facts about rows that a user stored as expected answers."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from assay.model.whole_file import whole_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# File in the folder of the rows, which are one CSV file per operation.
KEPT_FILE = "kept.json"
SCHEMA = 1


@dataclass(frozen=True)
class KeptAnswer:
    """The expected answer of one operation in one state of the data.

    Attributes:
        rows: Number of rows.
        digest: Digest of the rows, independent of their order.
        text_sha256: SHA-256 of the statement that returned the rows.
        ordered_by: Columns by which the statement orders its rows; empty means any order.
        floats: Columns that are compared with a tolerance.
        cut: Ends at which the statement limits its rows, `first` or `last`. Rows that tie at such
            an end may differ.
        kept_utc: Time of recording.
        engine: Title and version of the engine that returned the rows.
        server: Address of the server, without a password; None means an engine that Assay started.
        run: Id of the run that returned the rows.
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
        """Return text on time and engine of an expected answer."""
        return f"{self.kept_utc[:16].replace('T', ' ')} UTC, {self.engine}"


def text_digest(text: str) -> str:
    """Return a digest that identifies a statement; white space does not count."""
    return sha256(" ".join(text.split()).encode()).hexdigest()


def read_kept_answers(folder: Path) -> dict[str, KeptAnswer]:
    """Return a folder's stored expected answers by operation; empty if there are none.

    Raises:
        ValueError: If the file is not a file of recorded answers.
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
        raise ValueError(
            f"{path} has schema version {schema}, and this Assay reads version {SCHEMA}"
        )
    return answers


def from_facts(operations: Mapping[str, Mapping[str, object]]) -> dict[str, KeptAnswer]:
    """Return expected answers from their JSON values."""
    return {name: KeptAnswer(**facts) for name, facts in operations.items()}  # type: ignore[arg-type]


def kept_facts(answers: Mapping[str, KeptAnswer]) -> dict[str, object]:
    """Return expected answers as JSON values, in alphabetical order."""
    return {name: asdict(answer) for name, answer in sorted(answers.items())}


def write_kept_answers(folder: Path, answers: Mapping[str, KeptAnswer]) -> None:
    """Write the facts of expected answers beside their rows, in one atomic step."""
    document = {"schema": SCHEMA, "operations": kept_facts(answers)}
    with whole_file(folder / KEPT_FILE) as partial:
        partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
