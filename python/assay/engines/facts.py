"""Types for the facts of an engine in its `engine.toml`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from assay.engines.durability import DurabilityFacts, Level
from assay.model.language import SPARQL, SQL, Language


class ProductFacts(BaseModel):
    """One obtainable version of an engine's product: `[[products]]` in `engine.toml`.

    Attributes:
        version: Full version.
        provider: Name of the provider in `assay.engines.providers`.
        package: Name of the package, in the provider's own notation.
        sha256: Pinned SHA-256 of each downloaded file, by name.
        about: Difference from other versions, for readers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str
    provider: str
    package: str
    sha256: dict[str, str] = {}
    about: str = ""


class EngineFacts(BaseModel):
    """The content of `engine.toml`: the facts of an engine.

    Unknown keys of `engine.toml` are errors.

    Attributes:
        kind: `embedded` for engines in the driver's host process, `server` for engines with their
            own.
        session: Kind of the driver's session for the engine.
        languages: Query languages, each with its kind of session; empty means SQL.
        plans: Languages for which the engine reports plans.
        dialects: Search order for `operations/<operation>.<dialect>.sql`, before the plain file.
        obtained_from: Source of the product, for readers.
        products: Versions that can be obtained; the first is the default.
        schemes: Prefixes of the `--dsn` of a running server, such as `postgresql`.
        page_cache: Whether the engine reads its data files through the system's page cache.
        rows_by_key: Sentence on tables that the engine stores in key order regardless of the
            loading order; empty means rows keep the loading order.
        answers: Whether the engine returns rows that can be verified.
        transactions: Whether statements between `begin` and `commit` are atomic.
        programs: Whether the engine's session supports driver programs that read rows. All sessions
            support driver programs that read no rows.
        prepares: Whether the engine's session can prepare statements; otherwise the session always
            sends text.
        replans: Whether the engine plans a prepared statement anew at each execution.
        pipelines: Whether the engine's session can send statements before earlier answers arrive.
        passing_errors: Classes of errors that a retry may cure, besides serialization failures and
            deadlocks; not used in operations that are programs of the driver.
        settings: Assay's default settings that differ from the product's. The README gives the
            reason for each.
        durability: Durability levels by name; empty if the engine has no choice of levels.
        operations_of: Engine whose `operations.toml` also classifies this engine's functions,
            because both are one program; None if this engine has its own file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    about: str
    kind: Literal["embedded", "server", "none"]
    session: str
    languages: dict[Language, str] = {}
    plans: tuple[Language, ...] = (SQL,)
    dialects: tuple[str, ...] = ()
    obtained_from: str
    version_pinned: str | None = None
    products: tuple[ProductFacts, ...] = ()
    schemes: tuple[str, ...] = ()
    page_cache: bool = True
    rows_by_key: str = ""
    answers: bool = True
    transactions: bool = True
    programs: bool = False
    prepares: bool = False
    replans: bool = False
    pipelines: bool = False
    passing_errors: tuple[str, ...] = ()
    settings: dict[str, str] = {}
    durability: dict[Level, DurabilityFacts] = {}
    operations_of: str | None = None

    @property
    def spoken(self) -> dict[Language, str]:
        """The kind of driver session for each query language of the engine."""
        return self.languages or {SQL: self.session}

    def dialects_of(self, language: Language) -> tuple[str, ...]:
        """Return the search order of dialects for a workload's files in a query language."""
        return (*self.dialects, SPARQL) if language == SPARQL else self.dialects
