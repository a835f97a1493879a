"""Reads shares of time by cause from a document, for tables and bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.report.documents.load.operations import CauseShares


def shares_by_cause(shares: CauseShares) -> Mapping[str, float | None]:
    """Return shares by the cause names of `analysis.time.causes`."""
    return cast("Mapping[str, float | None]", shares)
