"""`assay answers`: keeps the rows of a user's queries as the reference for later runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from assay.model.errors import RunFailedError, UsageError
from assay.record.places import runs_dir
from assay.record.reader import Run
from assay.running.asked.asking import considered
from assay.running.asked.options import options_of
from assay.running.asked.understanding import request_of
from assay.running.execute import execute
from assay.running.reference.keeping import OperationAnswer, operation_answers, write_answers
from assay.verbs.shared.watching import Logged
from assay.workloads.answers import own_answers, own_answers_folder
from assay.workloads.discovery import OURS

if TYPE_CHECKING:
    from pathlib import Path

    from assay.running.telling import Teller

# Each operation is executed twice, so that operations with varying rows are found.
ONCE = {"min_time": "1ms", "time": "1s", "warmup": "0s", "plans": False, "probes": "none"}


@dataclass(frozen=True)
class Answers:
    """The rows that operations returned, and whether they were stored as expected answers.

    Attributes:
        run: The run that executed the queries.
        folder: Folder in which the answers of these queries are kept.
        kept: Whether this call wrote the rows to the folder.
        operations: One row for each operation.
    """

    run: str
    folder: Path
    kept: bool
    operations: tuple[OperationAnswer, ...]

    @property
    def document(self) -> dict[str, Any]:
        """Return the document of `assay answers --json`; the rows are only in the folder."""
        rows = [asdict(row) for row in self.operations]
        for row in rows:
            del row["text"]
        return {"run": self.run, "folder": self.folder, "kept": self.kept, "operations": rows}


def answers(
    workload: str,
    *,
    keep: bool = False,
    runs: Path | str | None = None,
    teller: Teller | None = None,
    **options: Any,
) -> Answers:
    """Record the rows that queries return now as the expected answers of later runs.

    Args:
        workload: A folder of `.sql` or `.rq` files whose data no generator makes.
        keep: Write the rows to the folder and replace the answers there; otherwise nothing is
            written, and the result says for each operation how its rows differ from the kept ones.
        runs: Directory of runs. Default: `$ASSAY_RUNS`, else `./runs`.
        teller: Receives the progress.
        options: Options of the run, by the keys of a study's file: `dsn`, `engine`, `operation`.

    Raises:
        UsageError: If Assay generates the answers of these queries itself. No query was executed.
        RunFailedError: If the run ended early, or the folder cannot be written.
    """
    request = request_of(options_of({**ONCE, "workload": workload, **options}), [])
    asked = considered(request)
    whose = asked.workload
    if whose.has_made_data or whose.folder.resolve().is_relative_to(OURS.resolve()):
        raise UsageError(
            f"`assay run` already has reference answers for {whose.facts.name}. Name a folder "
            "of your own queries"
        )
    folder = own_answers_folder(whose, request.scale, asked.language)
    if keep and not folder.resolve().is_relative_to(whose.folder.resolve()):
        raise UsageError(
            f"{folder} is a link that leads out of {whose.folder}: answers must be stored in "
            "the folder of their queries"
        )
    before = own_answers(whose, request.scale, asked.language)
    run = Run(execute(request, runs_dir(runs), teller or Logged()))
    rows = operation_answers(run, asked.dialects, folder, before)
    has_any = any(row.answer is not None for row in rows)
    if keep and has_any:
        try:
            write_answers(folder, rows, before)
        except OSError as error:
            raise RunFailedError(
                f"{folder} cannot be written ({error.strerror}), so no answer was stored. Make "
                "the folder writable, or copy the queries to a writable folder"
            ) from error
    return Answers(run.id, folder, keep and has_any, tuple(rows))
