"""Writes CPU samples in the pprof format, a gzipped protocol buffer.

A pprof sample has its stack's locations, innermost first, a number of samples, and nanoseconds of
CPU time. By its labels `operation`, `work`, `thread` and `tid`, pprof selects (`-tagfocus`) and
groups (`-tagroot`).
"""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import polars as pl

from assay.report.profile_exports.protobuf import content, number, varint
from assay.report.profile_exports.stack_tree import stack_tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from assay.report.profile_exports.source import Source
    from assay.report.profile_exports.stack_tree import StackTree

SUFFIX = ".pb.gz"
COMPRESSION = 5
# A mapping over all addresses makes pprof use the addresses as the files have them.
ADDRESS_LIMIT = (1 << 64) - 1


class Texts:
    """The string table of a pprof profile; its first text is empty."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}

    def __getitem__(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def encoded(self) -> Iterator[bytes]:
        """Yield the encoded texts of the string table, in the order of their numbers."""
        return (content(6, text.encode()) for text in self._numbers)


def write(source: Source, out: BinaryIO) -> None:
    """Write the CPU samples as a gzipped pprof profile."""
    with gzip.GzipFile("", "wb", COMPRESSION, out, mtime=0) as packed:
        packed.writelines(messages(source))


def messages(source: Source) -> Iterator[bytes]:
    """Yield the fields of a pprof profile."""
    texts = Texts()
    counted = _counted(source)
    tree = stack_tree(source.profile.stacks, counted["stack"].unique().sort())
    yield from _header(source, texts)
    yield from _mappings(source, texts)
    yield from _locations(source, tree, texts)
    yield from _samples(source, counted, tree, texts)
    yield from texts.encoded()


def _counted(source: Source) -> pl.DataFrame:
    """Return equal CPU samples as one row with their count."""
    alike = ["operation", "pid", "tid", "work", "stack"]
    return source.samples.group_by(alike).len("count").sort(alike)


def _value_type(texts: Texts, kind: str, unit: str) -> bytes:
    return number(1, texts[kind]) + number(2, texts[unit])


def _header(source: Source, texts: Texts) -> Iterator[bytes]:
    times = source.samples["time_ns"]
    begun, ended = int(times[0]), int(times[-1])
    yield content(1, _value_type(texts, "samples", "count"))
    yield content(1, _value_type(texts, "cpu", "nanoseconds"))
    yield number(9, begun + source.wall_minus_monotonic_ns)
    yield number(10, ended - begun + source.period_ns)
    yield content(11, _value_type(texts, "cpu", "nanoseconds"))
    yield number(12, source.period_ns)
    sampling = source.profile.sampling
    how = f"{sampling.event} at {sampling.frequency_hz:g} Hz, stacks by {sampling.stacks}"
    said = (f"{source.title}, run {source.run}", how)
    yield content(13, b"".join(varint(texts[line]) for line in said))
    yield number(14, texts["cpu"])


def _mappings(source: Source, texts: Texts) -> Iterator[bytes]:
    """Yield the files with code of a pprof profile, the most used first."""
    places = source.places.group_by("module").len("places")
    rows = (
        source.modules.join(places, "module")
        .sort(pl.col("path").str.starts_with("["), -pl.col("places").cast(pl.Int64), "module")
        .select("module", "path", pl.col("build_id").fill_null(""))
    )
    for module, path, build_id in rows.iter_rows():
        yield content(
            3,
            number(1, module + 1)
            + number(3, ADDRESS_LIMIT)
            + number(5, texts[path])
            + number(6, texts[build_id])
            + number(7, 1),
        )


def _locations(source: Source, tree: StackTree, texts: Texts) -> Iterator[bytes]:
    """Yield pprof code locations and the functions that contain them."""
    rows = (
        pl.DataFrame({"frame": sorted(set(tree.frame))}, schema_overrides={"frame": pl.UInt32})
        .join(source.profile.frames.select("frame", pl.col("label").cast(pl.String)), "frame")
        .join(source.places, "frame")
        .join(source.modules.select("module", "path"), "module", how="left")
        .sort("frame")
    )
    functions: dict[tuple[str, str], int] = {}
    for frame, label, module, address, path in rows.select(
        "frame", "label", "module", "address", pl.col("path").fill_null("")
    ).iter_rows():
        function = functions.setdefault((label, path), len(functions) + 1)
        mapping = 0 if module is None else module + 1
        line = content(4, number(1, function))
        yield content(4, number(1, frame + 1) + number(2, mapping) + number(3, address) + line)
    for (label, path), function in functions.items():
        yield content(5, number(1, function) + number(2, texts[label]) + number(4, texts[path]))


def _samples(
    source: Source, counted: pl.DataFrame, tree: StackTree, texts: Texts
) -> Iterator[bytes]:
    stacks = _encoded_stacks(tree)
    operation, work, thread = texts["operation"], texts["work"], texts["thread"]
    tid_key, period = number(1, texts["tid"]), source.period_ns
    threads: dict[tuple[int, int], bytes] = {}

    def label(key: int, value: str) -> bytes:
        return content(3, number(1, key) + number(2, texts[value]))

    for name, pid, tid, kind, stack, count in counted.iter_rows():
        if (pid, tid) not in threads:
            threads[pid, tid] = label(thread, source.thread_name(pid, tid)) + content(
                3, tid_key + number(3, tid)
            )
        yield content(
            2,
            content(1, stacks[tree.index[stack]])
            + content(2, varint(count) + varint(count * period))
            + label(operation, name)
            + label(work, kind)
            + threads[pid, tid],
        )


def _encoded_stacks(tree: StackTree) -> list[bytes]:
    """Return the pprof locations of each call stack, innermost first."""
    encoded: list[bytes] = []
    for caller, frame in zip(tree.caller, tree.frame, strict=True):
        above = encoded[caller] if caller >= 0 else b""
        encoded.append(varint(frame + 1) + above)
    return encoded
