"""Provides packages of another Debian release, with that release's libraries and loader.

`package` is the release and the names of all packages, such as `sid acme-server libc6`. Libraries
of two releases cannot be mixed, so none is the host's. A program is executed by its release's
loader (`program_of`). The host's own apt configuration names the archive.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.providers.client import Client
from assay.engines.providers.contract import ProviderError, UnavailableError
from assay.engines.providers.debian import run_tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.engines.contract import Tell

ROOT = "apt"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# Debian's own archives, without the security archive, which does not have such releases.
ARCHIVES = ("Created-By: Packages", "Origin: Debian", "Label: Debian")
# Directory below a product's home with the loader under the name of each program that it loads. The
# kernel gives a process the file name of its loader.
LOADERS = "loaders"
PROGRAMS = ("usr/sbin/*", "usr/bin/*")
LIBRARIES = "usr/lib/*-linux-gnu*"
ELF = b"\x7fELF"
APT_GET = Client(
    name="apt-get",
    # The user of apt's sandbox cannot write to the target directory, which only causes a warning.
    programs=(("apt-get", "-q", "-o", "APT::Sandbox::User=root"),),
    install="Debian's packages need Debian or one of its kin; choose another version",
    not_there=r"Unable to locate package|has no installation candidate|no longer has a Release"
    r"|does not have a Release file|is not signed|404\s+Not Found",
    mend="the archive that apt is configured for has not this release or not these packages: choose"
    " another version, or name installed programs with --bin-dir",
)


class DebianReleaseProvider:
    """Provides packages of another Debian release; implements `Brings`."""

    def bring(self, package: str, into: Path, tell: Tell) -> list[Path]:
        """Download packages of another Debian release by a private apt configuration."""
        release, *names = package.split()
        options = _private_apt(into / ROOT, release)
        APT_GET.run([*options, "update"], into, tell)
        APT_GET.run([*options, "download", *names], into, tell)
        return sorted(into.glob("*.deb"))

    def unpack(self, files: Sequence[Path], home: Path) -> None:
        """Unpack all packages into one directory, and copy the loader for each program."""
        for file in files:
            run_tool(["dpkg-deb", "--extract", str(file), str(home)])
        loader = _loader(home)
        (home / LOADERS).mkdir()
        for program in [path for places in PROGRAMS for path in home.glob(places)]:
            if _is_program(program):
                link = home / LOADERS / program.name
                link.symlink_to(Path("..") / loader.relative_to(home))
                _check(program_of(home, program), home)


def program_of(home: Path, program: Path) -> list[str]:
    """Return the command that runs a program with the loader and libraries of its release."""
    places = ":".join(map(str, sorted(home.glob(LIBRARIES))))
    return [str(home / LOADERS / program.name), "--library-path", places, str(program)]


def _private_apt(root: Path, release: str) -> list[str]:
    """Return options for an apt with its own lists and sources.

    Raises `ProviderError`.
    """
    archives = run_tool(["apt-get", "indextargets", "--format", "$(REPO_URI)", *ARCHIVES])
    if not archives.split():
        raise UnavailableError(
            "apt on this host has no Debian archive in its configuration: choose another "
            "version, or name installed programs with --bin-dir"
        )
    for directory in ("state/lists/partial", "cache/archives/partial"):
        (root / directory).mkdir(parents=True)
    signed = f"[signed-by={KEYRING}] " if KEYRING.is_file() else ""
    sources = root / "sources.list"
    sources.write_text(f"deb {signed}{archives.split()[0]} {release} main\n", encoding="utf-8")
    settings = {
        "Dir::State": root / "state",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": root / "cache",
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "/dev/null",
        "Acquire::Languages": "none",
        # A snapshot archive has lists whose validity has expired.
        "Acquire::Check-Valid-Until": "false",
    }
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def _is_program(path: Path) -> bool:
    """Return True if the file is a program that needs a loader, not a script."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(ELF)) == ELF


def _loader(home: Path) -> Path:
    loaders = sorted(home.glob(f"{LIBRARIES}/ld-linux*.so.*"))
    if not loaders:
        raise ProviderError("the packages contain no dynamic loader: engine.toml must name libc6")
    return loaders[0]


def _check(command: Sequence[str], home: Path) -> None:
    """Check that a program's libraries come from its own release, not from the host."""
    loader, *rest = command
    listing = run_tool([loader, "--list", *rest])
    pairs = (line.partition(" => ") for line in listing.splitlines())
    foreign = [name.strip() for name, arrow, at in pairs if arrow and not at.startswith(str(home))]
    if foreign:
        raise ProviderError(
            f"the packages lack these libraries: {', '.join(sorted(foreign))}. engine.toml"
            " must name them; until it does, choose another version"
        )


provider = DebianReleaseProvider()
