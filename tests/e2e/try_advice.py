"""Tries advice that a test made up: `python -m tests.e2e.try_advice RUNS ADVICE ROUNDS [DSN]`.

Prints the document of the try. With the name of a study for ADVICE, carries out its file instead.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from assay.cli.output import complain, console
from assay.cli.study_progress import StudyProgress
from assay.cli.try_ import tried
from assay.model.errors import RunFailedError, UsageError
from assay.model.finding import Advice, Finding
from assay.record.reader import Run
from assay.record.studies import STUDIES_DIR, STUDY_FILE, read_study_file
from assay.study.several import carry_out
from assay.study.variants import read_study


def main(runs: Path, asked: str, rounds: int, dsn: str | None) -> int:
    if (runs / STUDIES_DIR / asked).is_dir():
        directory = runs / STUDIES_DIR / asked
        study = read_study(read_study_file(directory / STUDY_FILE), STUDY_FILE)
        carry_out(study, directory, runs, StudyProgress(console()))
        return 0
    told = json.loads(asked)
    advice = Advice(told["kind"], told["subject"], told["values"], told["gain_share"])
    names = tuple(told["operations"])
    finding = Finding("made up", 0.5, None, (), "made-up", operations=names, advice=advice)
    try:
        document = tried(Run(min(runs.glob("*Z-*"))), finding, runs, rounds, 1, dsn)
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
