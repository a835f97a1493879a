"""Validates TOML files that people write, such as `operations.toml`."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from assay.model.errors import UsageError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

F = TypeVar("F", bound=BaseModel)


def read_document(text: str, origin: str) -> dict[str, Any]:
    """Return the TOML document in a text; raise `UsageError` with `origin` if it is invalid."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{origin} cannot be read: {error}") from error


def validated(facts: type[F], document: Mapping[str, Any], origin: str) -> F:
    """Return a TOML document converted to a given type.

    Raises:
        UsageError: If a key is unknown, missing or wrong. The message has `origin`, key and
            reason.
    """
    try:
        return facts.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else ""
        if first["type"] == "extra_forbidden":
            hint = suggestion(key, list(facts.model_fields))
            raise UsageError(f"{origin}: unknown key {key!r}; {hint}") from error
        if first["type"] == "missing":
            raise UsageError(f"{origin}: the rule lacks the key {key!r}.") from error
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{origin}: {place}: {first['msg']}") from error
