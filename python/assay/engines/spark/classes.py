"""Makes an archive of Spark's classes, which Java maps instead of loading each class.

A cluster is several Java processes that load the same thousands of classes at start, and each level
of a sweep starts a cluster. The archive is made once per Spark and Java version. A Java that it
does not fit ignores it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.spark.connecting import file_text
from assay.engines.spark.programs import HOST

if TYPE_CHECKING:
    from assay.engines.contract import Tell
    from assay.engines.spark.programs import Programs

log = logging.getLogger(__name__)

SHELL_CLASS = "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver"
HEAP = "640m"
PATIENCE_S = 180.0
# Digits of a hash of Spark and Java in an archive's name.
DIGEST_DIGITS = 16
READABLE = 0o644


def with_classes(programs: Programs, shelf: Path, tell: Tell) -> Programs:
    """Return Spark's programs with their class archive, which is made if missing.

    Without an archive, processes only start more slowly, so a failure is a warning.
    """
    file = shelf / f"classes-{_digest(programs)}.jsa"
    if not file.is_file():
        tell("archiving classes", 0, None, "bytes")
        try:
            shelf.mkdir(parents=True, exist_ok=True)
            _make(programs, file)
        except (OSError, subprocess.SubprocessError) as error:
            log.warning(
                ("Spark starts without a class-data archive, which makes its start slower: %s"),
                error,
            )
            return programs
    return replace(programs, classes=file)


def _make(programs: Programs, file: Path) -> None:
    """Run a small Spark query so that Java archives its loaded classes."""
    with tempfile.TemporaryDirectory(prefix=".partial-", dir=file.parent) as directory:
        made = Path(directory) / file.name
        properties = {
            "spark.master": "local[1]",
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.warehouse.dir": f"{directory}/tables",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.autoBroadcastJoinThreshold": "-1",
            "spark.local.dir": directory,
            "spark.ui.port": "0",
            "java.io.tmpdir": directory,
        }
        main = [SHELL_CLASS, "-e", file_text("classes.sql")]
        command = programs.command(HEAP, main, properties)
        command[1:1] = [f"-XX:ArchiveClassesAtExit={made}"]
        environment = {**os.environ, **programs.environment, "HOME": directory}
        ended = subprocess.run(
            command,
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
        if not made.is_file():
            raise OSError(f"Java made none ({' '.join(ended.stderr.split()[-40:])})")
        made.chmod(READABLE)
        made.rename(file)


def _digest(programs: Programs) -> str:
    """Return a digest of Spark's files and of its Java."""
    stamps = [programs.java.resolve(), programs.home.resolve() / "jars"]
    stamped = "\n".join(f"{path} {path.stat().st_mtime_ns}" for path in stamps)
    return hashlib.sha256(stamped.encode()).hexdigest()[:DIGEST_DIGITS]
