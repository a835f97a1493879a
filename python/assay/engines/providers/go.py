"""Builds programs of Go modules with the `go` command and its configured proxies.

`package` is `path@version`, followed by Debian packages of C libraries for the build:
`github.com/acme/server/cmd/server@v1.2.3 libicu-dev`. A word `MODULE@VERSION` raises the version of
a dependency. If no checksum database has the program's version, `MODULE=SUM,SUM` pins the hashes of
its module and go.mod, as in `go.sum`. Modules, objects and the program are made within the given
directory; no directory of the user is touched.

The program is built as a dependency of a generated module. `go install path@version` refuses
modules with replacements, while replacements of a dependency are ignored.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from assay.engines.providers.client import Client
from assay.engines.providers.contract import ProviderError
from assay.engines.providers.debian import DebianProvider, is_installed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from assay.engines.contract import Tell

# Building takes minutes on all cores, and a host may have one busy core.
BUILD_PATIENCE_S = 7200.0
DOWNLOADING = "go: downloading "
COMPILERS = {"CC": "gcc", "CXX": "g++"}
# Directories of the build within the given one.
BUILT, MODULES, OBJECTS, LIBRARIES = "bin", "modules", "objects", "libraries"
PROGRAM_DIRECTORY = "bin"
# Go raises this language version to the one that the program requires.
MODULE_FILE, MODULE = "go.mod", "module built\n\ngo 1.21\n"
SUMS_FILE, PINNED = "go.sum", "=h1:"


def progress(output: str) -> tuple[str, float, str]:
    """Return the progress of `go` from its output: phase, amount and unit."""
    lines = output.splitlines()
    packages = sum(not line.startswith("go: ") for line in lines)
    if not packages:
        downloads = sum(line.startswith(DOWNLOADING) for line in lines)
        return "downloading with go", downloads, "modules"
    return "compiling with go", packages, "packages"


GO = Client(
    name="go",
    programs=(("go",),),
    install="install Go (on Debian: `apt-get install golang`), or name installed programs with"
    " --bin-dir",
    not_there=r"40[34] (?:Not Found|Forbidden)|410 Gone|unknown revision|invalid version"
    r"|\.(?:info|mod|zip): no such file or directory",
    mend="the proxies that go is configured for (`go env GOPROXY`) have no such version: choose"
    " another one, or mend GOPROXY",
    variables=("GIT_",),
    mends={
        r"disabled by GOPROXY=off": "GOPROXY=off lets nothing be brought: name a proxy in GOPROXY",
        r"requires go >= [\d.]+": "this Go is too old, and GOTOOLCHAIN=local has it bring no other"
        " one: install the one that is asked for, or choose an older version",
        r"SECURITY ERROR|checksum mismatch": "what came is not what its checksum says: do not use"
        " it; try again through another proxy",
        r"fatal error: \S+: No such file|cannot find -l": "a C library's files for compiling are"
        " missing: install its -dev package",
        r"executable file not found": "a compiler is missing: install gcc and g++",
        r"signal: killed|cannot allocate memory": "the host ran out of memory while compiling: it"
        " takes about 2 GiB, or less with GOMAXPROCS=1 in the environment",
    },
    chatter=r"^go: (?:downloading|added|upgraded) |^[\w.~-]+(?:/[\w.~-]+)*$",
    progress=progress,
    patience_s=BUILD_PATIENCE_S,
)


class GoProvider:
    """Provides programs built with Go; implements `Brings`."""

    def bring(self, package: str, into: Path, tell: Tell) -> list[Path]:
        """Download the modules and build the program, with its symbols."""
        asked, *beside = package.split()
        path, _, version = asked.partition("@")
        raised = [word for word in beside if "@" in word]
        pinned = [word for word in beside if PINNED in word]
        libraries = [word for word in beside if word not in (*raised, *pinned)]
        if libraries:
            _check_compilers()
        environment = _environment(into) | _brought(libraries, into, tell)
        (into / MODULE_FILE).write_text(MODULE, encoding="utf-8")
        sums = "".join(_sums(word, version) for word in pinned)
        (into / SUMS_FILE).write_text(sums, encoding="utf-8")
        GO.run(["get", asked, *raised], into, tell, environment)
        GO.run(["install", "-v", path], into, tell, environment)
        return sorted((into / BUILT).iterdir())

    def unpack(self, files: Sequence[Path], home: Path) -> None:
        """Copy the programs built by Go into the product's directory."""
        programs = home / PROGRAM_DIRECTORY
        programs.mkdir()
        for file in files:
            shutil.copy2(file, programs)


def _sums(pinned: str, version: str) -> str:
    """Return lines of `go.sum` from pinned hashes."""
    module, _, sums = pinned.partition("=")
    of_module, of_go_mod = sums.split(",")
    return f"{module} {version} {of_module}\n{module} {version}/{MODULE_FILE} {of_go_mod}\n"


def _environment(into: Path) -> dict[str, str]:
    """Return the environment of `go`: its directories, and the host's compilers.

    The user configures the source of modules (`go env -w`, GOPROXY).
    """
    return {
        "GOBIN": str(into / BUILT),
        "GOPATH": str(into / MODULES),
        "GOMODCACHE": str(into / MODULES / "cache"),
        "GOCACHE": str(into / OBJECTS),
        # The module cache can be deleted like any directory, and the program contains no paths of
        # this host.
        "GOFLAGS": "-modcacherw -trimpath",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "CGO_ENABLED": "1",
    }


def _check_compilers() -> None:
    """Raise `ProviderError` without C and C++ compilers, which go would report minutes later."""
    for variable, usual in COMPILERS.items():
        compiler = (os.environ.get(variable) or usual).split()[0]
        if shutil.which(compiler) is None:
            raise ProviderError(
                f"{compiler} is not installed, and the program has parts in C and C++: install "
                "gcc and g++ (on Debian: `apt-get install g++`)."
            )


def _brought(libraries: Sequence[str], into: Path, tell: Tell) -> dict[str, str]:
    """Return compiler settings for C libraries that this host lacks, after downloading them.

    The static archives (`.a`) of Debian packages are linked, so that the program runs without these
    packages. On other systems the host must have the libraries; the compiler reports missing ones.
    """
    missing = [name for name in libraries if not is_installed(name)]
    if not missing or shutil.which("dpkg-query") is None:
        return {}
    archives, home = into / LIBRARIES / "archives", into / LIBRARIES / "home"
    archives.mkdir(parents=True)
    home.mkdir()
    debian = DebianProvider()
    for name in missing:
        debian.bring(name, archives, tell)
    debian.unpack(sorted(archives.glob("*.deb")), home)
    for shared in home.glob("usr/lib/*/*.so*"):
        shared.unlink()
    headers = [f"-I{place}" for place in home.glob("usr/include")]
    places = [f"-L{place}" for place in home.glob("usr/lib/*-linux-gnu*")]
    flags = {"CGO_CPPFLAGS": headers, "CGO_LDFLAGS": places}
    return {name: " ".join([os.environ.get(name, ""), *flags[name]]).strip() for name in flags}


provider = GoProvider()
