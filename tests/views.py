"""Checks of views that were read from a catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from assay.model.declared import DeclaredColumns
from assay.workloads.known_columns import declared


def assert_is_written_out(tables: Mapping[str, DeclaredColumns], dialect: str) -> None:
    """Check that the view `seen` of the table `notes` is replaced by its query in others."""
    from assay.workloads.rewriting.views import with_views

    _, views = declared((), (dialect,), tables)
    text = with_views("select code from seen where id = 1", views, (dialect,)) or ""
    words = " ".join(text.lower().replace('"', "").replace("`", "").split())
    assert "from notes ) as seen where id = 1" in words, text
