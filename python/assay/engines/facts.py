"""The facts of an engine, as its `engine.toml` states them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from assay.engines.durability import DurabilityFacts, Level
from assay.model.language import SPARQL, SQL, Language


class ProductFacts(BaseModel):
    """One version that can be obtained: `[[products]]` in `engine.toml`.

    Attributes:
        version: The version in full.
        provider: Name of the provider in `assay.engines.providers`.
        package: Name of the package, in the provider's own notation.
        sha256: SHA-256 of the file or files that are brought, by name; pinned.
        about: Difference from other versions, for readers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: str
    provider: str
    package: str
    sha256: dict[str, str] = {}
    about: str = ""


class EngineFacts(BaseModel):
    """`engine.toml`. Unknown keys are errors.

    Attributes:
        kind: `embedded` engines live in the driver's host process, `server` ones in their own.
        session: Kind of the driver's session for it.
        languages: Query languages, each with its kind of session. Empty means SQL.
        plans: Languages for which it reports plans.
        dialects: Search order for `operations/<operation>.<dialect>.sql`, before the plain file.
        obtained_from: Source of the product, for readers.
        products: Versions that can be obtained; the first is the default.
        schemes: Beginnings of the `--dsn` of a running server, such as `postgresql`.
        page_cache: Whether it reads its data files through the system's page cache.
        rows_by_key: Text on tables that the engine stores in key order regardless of the loading
            order. Empty means rows keep the loading order.
        answers: Whether it returns rows that can be right or wrong.
        transactions: Whether statements between `begin` and `commit` are done whole or not at all.
        programs: Whether its session supports driver programs that read rows. All sessions support
            other programs.
        prepares: Whether its session can prepare statements. Otherwise it always sends text.
        pipelines: Whether its session can send statements before earlier answers arrive.
        passing_errors: Classes of errors that another attempt may cure, beside serialization
            failures and deadlocks; not in operations that are programs of the driver.
        settings: Defaults of Assay that differ from the product's. The README has the reason for
            each.
        durability: Durability levels by name; empty if it has no levels to choose from.
        operations_of: The engine whose `operations.toml` classifies its functions, because both are
            one program; None if it has its own file.
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
    pipelines: bool = False
    passing_errors: tuple[str, ...] = ()
    settings: dict[str, str] = {}
    durability: dict[Level, DurabilityFacts] = {}
    operations_of: str | None = None

    @property
    def spoken(self) -> dict[Language, str]:
        """Kinds of session by query language."""
        return self.languages or {SQL: self.session}

    def dialects_of(self, language: Language) -> tuple[str, ...]:
        """Search order for files of a workload in a language."""
        return (*self.dialects, SPARQL) if language == SPARQL else self.dialects
