"""Tries advice that a test made up: `python -m tests.e2e.try_advice RUNS ADVICE ROUNDS [DSN]`.

Prints the document of the try."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from assay.cli.shared.output import complain
from assay.cli.shared.watching import Watching
from assay.model.errors import RunFailedError, UsageError
from assay.model.finding import Advice, Finding
from assay.record.reader import Run
from assay.verbs.try_ import try_


def main(runs: Path, asked: str, rounds: int, dsn: str | None) -> int:
    fields = json.loads(asked)
    advice = Advice(
        fields["kind"],
        fields["subject"],
        fields["values"],
        fields["gain_share"],
    )
    names = tuple(fields["operations"])
    finding = Finding("made up", 0.5, None, (), "made-up", operations=names, advice=advice)
    try:
        run = Run(min(runs.glob("*Z-*")))
        document = try_(run, finding, repeat=rounds, dsn=dsn, runs=runs, watcher=Watching())
    except UsageError as error:
        complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        return RunFailedError.exit_code
    json.dump(document, sys.stdout)
    return 0


if __name__ == "__main__":
    place, what, number, *address = sys.argv[1:]
    sys.exit(main(Path(place), what, int(number), address[0] if address else None))
