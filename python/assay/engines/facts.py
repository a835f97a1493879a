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
        provider: Which of `assay.engines.providers` brings it.
        package: What the provider is asked for, in the provider's own notation.
        sha256: SHA-256 of the file or files that are brought, by name; pinned.
        about: What sets it apart, for people.
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
        session: Which session of the driver speaks to it.
        languages: In which languages it can be asked, each with its session; empty: SQL.
        plans: Languages whose plans it tells, where it tells any.
        dialects: Search order for `operations/<operation>.<dialect>.sql`, before the plain file.
        obtained_from: Where it comes from, for people.
        products: Versions that can be obtained; the first is the default.
        schemes: Beginnings of the `--dsn` of a running server, such as `postgresql`.
        page_cache: Whether it reads its data files through the system's page cache.
        rows_by_key: Whose rows lie in the order of their key however they are loaded, in words for
            people; empty: nobody's, rows lie as they come.
        answers: Whether it returns rows that can be right or wrong.
        transactions: Whether statements between `begin` and `commit` are done whole or not at all.
        programs: Whether its session plays programs of the driver that read rows; all play others.
        prepares: Whether its session prepares statements where that is asked for, and else sends
            each as text.
        pipelines: Whether its session can send statements before earlier answers have come.
        passing_errors: Classes of errors that another attempt may cure, beside serialization
            failures and deadlocks; not in operations that are programs of the driver.
        settings: Defaults that ours differ from the product's in, each with its reason in README.
        durability: Levels of durability that it has, by name; empty: it has none to choose from.
        operations_of: The engine whose `operations.toml` says what its functions do, because both
            are one program; None: its own one does.
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
        """Sessions by the languages that it can be asked in."""
        return self.languages or {SQL: self.session}

    def dialects_of(self, language: Language) -> tuple[str, ...]:
        """Search order for files of a workload in a language."""
        return (*self.dialects, SPARQL) if language == SPARQL else self.dialects
