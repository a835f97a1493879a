"""Loads RDF: N-Triples files that the server reads, over several connections at once.

Each connection writes a file from the batches that it takes, and has the server process it as its
own `rdf_loader_run` does. There are never more files than connections, and the server's load list
has the error of each file.
"""

from __future__ import annotations

import itertools
import secrets
import threading
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from assay.engines.bridge.link import Link
from assay.engines.contract import EngineError
from assay.engines.feeding import fed, text_bytes
from assay.engines.server_files import new_server_file, remove_server_file, server_directory
from assay.engines.virtuoso.connecting import GRAPH, ask, file_text
from assay.engines.virtuoso.server import LOADING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from assay.engines.contract import Address, Instance
    from assay.engines.feeding import Batches
    from assay.engines.loading import ArrowStream

# Minimum bytes of a file, which ends with a whole batch; the server processes its literals and IRIs
# together.
FILE_BYTES = 8 << 20
# Errors of loaders that deadlock, or that number the same language at one time; one of them repeats
# its file.
AGAIN, TRIES_MAX = ("40001", "23000"), 20


def load(instance: Instance, rows: ArrowStream, streams: int) -> None:
    """Add all lines of a stream of batches of one column.

    Raises:
        EngineError: If the server could not load a file; has its message.
    """
    reader = pa.RecordBatchReader.from_stream(rows)
    name = f"assay-{secrets.token_hex(8)}"
    with ExitStack() as links:
        opened = [links.enter_context(Link.connect(instance.address)) for _ in range(streams)]
        fed(reader, [partial(_feed, link, instance.address, name) for link in opened])


def count(instance: Instance) -> int:
    """Return the number of distinct triples of Assay's graph."""
    return int(ask(instance.address, file_text("triples_count.sql"), (GRAPH,))[0][0].as_py())


def _feed(link: Link, address: Address, name: str, batches: Batches) -> None:
    scratch, file = Path(address["scratch"]), f"{name}-{threading.get_ident()}.nt"
    link.run(file_text("triples_unlogged.sql"))
    waiting = iter(batches)
    with server_directory(scratch, LOADING) as directory:
        try:
            while _written(file, directory, waiting):
                _loaded(link, str(scratch / LOADING / file))
        finally:
            remove_server_file(file, directory)


def _written(file: str, directory: int, batches: Iterator[pa.RecordBatch]) -> int:
    """Write batches until the file is large enough; return its number of bytes."""
    size = 0
    with new_server_file(file, 0o644, directory) as out:
        for batch in batches:
            size += out.write(text_bytes(batch))
            if size >= FILE_BYTES:
                break
    return size


def _loaded(link: Link, file: str) -> None:
    """Have Virtuoso load a file of triples.

    Raises `EngineError` with the server's message.
    """
    for attempt in itertools.count(1):
        link.run(file_text("triples_note.sql"), (file, GRAPH))
        link.run(file_text("triples_load.sql"), (file, GRAPH))
        errors = link.ask(file_text("triples_error.sql"), (file,))[0].to_pylist()
        link.run(file_text("triples_forget.sql"), (file,))
        error = errors[0] if errors else None
        if error is None:
            return
        if not str(error).startswith(AGAIN) or attempt == TRIES_MAX:
            raise EngineError(f"Virtuoso cannot load a file of triples: {error}")
