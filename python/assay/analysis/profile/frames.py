"""Names the stack frames of a CPU profile: label, family (merged variants) and file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from assay.analysis.work.globs import Names
from assay.analysis.work.names import family, label

if TYPE_CHECKING:
    from collections.abc import Sequence

# Kinds of frames without a function's name. Assay adds the kind `cut` to stacks that end early.
KIND_BOUNDS, KIND_NONE, KIND_CUT, KIND_GO = "bounds", "none", "cut", "go"
NOT_NAMED = (KIND_BOUNDS, KIND_NONE, KIND_CUT)
# File name at the end of a stack whose unwinding stopped early.
UNWINDING = "[unwinding]"


def named_frames(
    frames: pl.DataFrame,
    modules: pl.DataFrame,
    symbols: pl.DataFrame | None,
    families: Sequence[str] = (),
) -> pl.DataFrame:
    """Return stack frames with their names: frame, label, family, module, kind.

    Args:
        frames: Recorded frames.
        modules: Recorded modules.
        symbols: Recorded symbols; None for a killed run, whose frames have no names.
        families: Globs of labels. All labels that match a glob are shown as one line with the
            glob as its name.
    """
    files = modules.select("module", pl.col("path").str.split("/").list.last().alias("file"))
    named = frames.join(files, on="module", how="left", maintain_order="left")
    if symbols is None:
        absent = {"name": pl.String, "kind": pl.String, "start": pl.UInt64, "size_bytes": pl.UInt64}
        named = named.with_columns(
            pl.lit(None, dtype=of).alias(name) for name, of in absent.items()
        )
    else:
        names = symbols.with_columns(pl.col("kind").cast(pl.String)).unique("frame", keep="first")
        named = named.join(names, on="frame", how="left", maintain_order="left")
    is_cut = pl.col("file") == UNWINDING
    named = named.with_columns(
        pl.when(is_cut)
        .then(pl.lit(KIND_CUT))
        .when(pl.col("name").is_null() & (pl.col("kind") != KIND_BOUNDS))
        .then(pl.lit(KIND_NONE))
        .otherwise(pl.col("kind").fill_null(KIND_NONE))
        .alias("kind")
    )
    return _labelled(named, families).select(
        "frame", "label", "family", pl.col("file").alias("module"), "kind"
    )


def _labelled(frames: pl.DataFrame, families: Sequence[str]) -> pl.DataFrame:
    is_plain = pl.col("kind").is_in([KIND_GO, KIND_CUT])
    pairs = frames.drop_nulls("name").select("name", is_plain.alias("is_plain")).unique()
    labels = [name if plain else label(name) for name, plain in pairs.iter_rows()]
    labelled = pairs.with_columns(
        pl.Series("label", labels, dtype=pl.String),
        pl.Series("family", _families(labels, families), dtype=pl.String),
    )
    joined = frames.with_columns(is_plain.alias("is_plain")).join(
        labelled, on=["name", "is_plain"], how="left", maintain_order="left"
    )
    nameless = joined.filter(pl.col("label").is_null()).select(
        "frame", "file", "address", "kind", "start", "size_bytes"
    )
    places = [_place(*row[1:]) for row in nameless.iter_rows()]
    addresses = nameless.select("frame", pl.Series("place", places, dtype=pl.String))
    return joined.join(addresses, on="frame", how="left", maintain_order="left").with_columns(
        pl.coalesce("label", "place").alias("label"), pl.coalesce("family", "place").alias("family")
    )


def _families(labels: Sequence[str], globs: Sequence[str]) -> list[str]:
    """Return the family of each function label: the first matching glob, or `<*>` for templates."""
    names = Names(labels)
    glob_by_label: dict[str, str] = {}
    for glob in globs:
        for name in names.matching(glob):
            glob_by_label.setdefault(name, glob)
    return [glob_by_label.get(name) or family(name) for name in labels]


def _place(
    file: str | None, address: int, kind: str, start: int | None, size_bytes: int | None
) -> str:
    """Return a text for code without a name: its file and bounds, or its file and address."""
    of_file = f"{file}+" if file else ""
    if kind == KIND_BOUNDS and start is not None and size_bytes is not None:
        return f"{of_file}{start:#x}..{start + size_bytes:#x}"
    return f"{of_file}{address:#x}"
