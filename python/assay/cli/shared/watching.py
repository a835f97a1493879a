"""Shows the progress of several runs at a terminal: remarks, downloads, a line per run."""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING

from assay.cli.shared.output import complain, console
from assay.cli.shared.progress import Progress
from assay.cli.shared.study_progress import StudyProgress
from assay.model.errors import AssayError
from assay.record.studies import STUDY_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Watching:
    """Shows the progress of several runs on a terminal."""

    def remark(self, text: str) -> None:
        """Print a line on stderr."""
        complain(text)

    @contextmanager
    def obtaining(self) -> Iterator[Progress]:
        """Show downloads, with one line per phase."""
        progress = Progress(console())
        try:
            yield progress
        finally:
            progress.close()

    @contextmanager
    def making(self, directory: Path, *, one_part: bool) -> Iterator[StudyProgress]:
        """Show one line per run; report an early end with what is kept, and raise it again."""
        progress = StudyProgress(console(), one_part=one_part)
        try:
            yield progress
        except (AssayError, KeyboardInterrupt):
            progress.close()
            quoted = shlex.quote(str(directory))
            if (directory / STUDY_FILE).exists():
                complain(
                    f"the runs so far are kept, and named in {directory}; the same command goes on"
                )
                complain(f"a report of what is there: assay report {quoted}")
            if progress.partial is not None:
                last = shlex.quote(str(progress.partial))
                complain(f"what was measured of the last one: assay show {last}")
            raise
        finally:
            progress.close()
