"""Provides artefacts of Maven repositories, downloaded by `mvn` with its configured mirrors.

`package` is `group:artefact:version[:packaging[:classifier]]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engines.providers.archives import unpack_tar, unpack_zip
from assay.engines.providers.client import Client

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.engines.contract import Tell

# The plugin version is pinned, because Maven's default depends on its own version.
COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
ARCHIVES = (".txz", ".tar.xz", ".tgz", ".tar.gz")
MVN = Client(
    name="mvn",
    programs=(("mvn", "--batch-mode", "--quiet"),),
    install="install Maven (on Debian: `apt-get install maven`), choose another version, or name"
    " installed programs with --bin-dir",
    not_there=r"Could not find artifact|was not found in",
    mend="the repository that mvn is configured for has no such artefact: see its settings.xml, or"
    " choose another version",
    variables=("MAVEN_",),
)


class MavenProvider:
    """Provides packages from Maven."""

    def bring(self, package: str, into: Path, tell: Tell) -> list[Path]:
        """Download the artefact into a private store, and copy it to the target."""
        # The user's store would keep a second copy, and some users have no home directory.
        store = f"-Dmaven.repo.local={into / 'store'}"
        artefact = [f"-Dartifact={package}", f"-DoutputDirectory={into}"]
        MVN.run([COPY_GOAL, store, *artefact], into, tell)
        return sorted(path for path in into.iterdir() if path.is_file())

    def unpack(self, files: Sequence[Path], home: Path) -> None:
        """Unpack jars and archives, and archives inside jars."""
        for file in files:
            unpack = unpack_tar if file.name.endswith(ARCHIVES) else unpack_zip
            unpack(file, home)
        for path in sorted(home.iterdir()):
            if path.name.endswith(ARCHIVES):
                unpack_tar(path, home)
                path.unlink()


provider = MavenProvider()
