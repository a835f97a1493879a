"""Builds the bridge's jar from its source: `python -m assay.engines.bridge.build`.

With the host's `javac`; where there is none, with Eclipse's compiler, which `mvn` fetches. It
imports nothing of ours, so that it can be run before anything is installed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
RELEASE = "17"
# Zip has no earlier time; a fixed one makes equal sources an equal jar.
TIME = (1980, 1, 1, 0, 0, 0)
COMPILER = "org.eclipse.jdt:ecj:3.38.0"
COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"


def build(jar: Path) -> None:
    """Compiles the sources beside this file into a jar.

    Raises:
        SystemExit: If there is no compiler, or it refuses; says the mend.
    """
    sources = sorted(map(str, (HERE / "java").glob("*.java")))
    with tempfile.TemporaryDirectory() as place:
        classes = Path(place) / "classes"
        classes.mkdir()
        _run([*_compiler(Path(place)), "--release", RELEASE, "-d", str(classes), *sources])
        partial = jar.with_suffix(".partial")
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(classes.rglob("*.class")):
                entry = zipfile.ZipInfo(str(file.relative_to(classes)), TIME)
                archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
        partial.rename(jar)


def _compiler(place: Path) -> list[str]:
    javac = shutil.which("javac")
    if javac is not None:
        return [javac, "-Xlint:all", "-Werror"]
    java, mvn = shutil.which("java"), shutil.which("mvn")
    if java is None or mvn is None:
        raise SystemExit(
            f"the bridge to JDBC drivers needs a Java compiler: install a JDK of {RELEASE} or later"
            " (on Debian: `apt-get install openjdk-17-jdk-headless`), or java and mvn."
        )
    _run([mvn, "-B", "-q", COPY_GOAL, f"-Dartifact={COMPILER}", f"-DoutputDirectory={place}"])
    return [java, "-jar", str(next(place.glob("ecj-*.jar")))]


def _run(command: list[str]) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"{command[0]} failed:\n{ended.stdout}{ended.stderr}")


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "bridge.jar")
