"""Obtains an engine: resolves the version, then downloads, verifies and unpacks it once.

A product's directory in the cache is either complete or absent: it is made under another name and
renamed. One process installs at a time; the next one removes what an interrupted installation left.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import importlib
import importlib.util
import json
import logging
import os
import shutil
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.engines.contract import EngineError, Product
from assay.engines.providers.contract import (
    Brings,
    BringsPinned,
    Finds,
    ProviderError,
    UnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.engines.contract import Tell, Wanted
    from assay.engines.facts import EngineFacts, ProductFacts

log = logging.getLogger(__name__)

PROVIDERS = "assay.engines.providers"
ORIGIN_FILE = "assay-origin.json"
LOCK_FILE = ".install.lock"
PARTIAL = ".partial-"
READ_BYTES = 1 << 20
READABLE = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
EXECUTABLE = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH


def obtain(facts: EngineFacts, wanted: Wanted, tell: Tell) -> Product:
    """Return the requested product, which is downloaded if needed.

    The product's version is that of `engine.toml`; it is empty for a directory of programs, whose
    version the engine reads.

    Raises:
        EngineError: If the version is unknown or cannot be obtained. The error message says how to
            fix it.
    """
    if wanted.bin_dir is not None:
        home = _home_found("directory", str(wanted.bin_dir))
        return Product("", home, {"provider": "directory", "directory": str(home)})
    chosen = resolve(facts, wanted.version)
    shelf = wanted.cache / facts.name
    try:
        with _installing(shelf, facts.title, tell):
            return _shelved(shelf, facts, chosen, tell)
    except OSError as error:
        raise EngineError(_refused(error, shelf)) from error


def is_installed(facts: EngineFacts, product: ProductFacts, cache: Path) -> bool:
    """Return True if a product is installed, so that nothing has to be downloaded."""
    return (cache / facts.name / _directory(product) / ORIGIN_FILE).is_file()


def resolve(facts: EngineFacts, version: str | None) -> ProductFacts:
    """Return the first product that matches a requested version; the default for None.

    Raises:
        EngineError: If the version does not exist. The error message lists the known versions.
    """
    if not facts.products:
        raise EngineError(
            f"Assay cannot download {facts.title}: name the directory of its programs with "
            "--bin-dir."
        )
    parts = [] if version is None else version.split(".")
    for product in facts.products:
        if product.version.split(".")[: len(parts)] == parts:
            return product
    products = "; ".join(f"@{product.version} ({product.about})" for product in facts.products)
    raise EngineError(f"{facts.title} {version} is not available. Available: {products}.")


def _shelved(shelf: Path, facts: EngineFacts, chosen: ProductFacts, tell: Tell) -> Product:
    home = shelf / _directory(chosen)
    origin = _origin(home)
    if origin is None:
        try:
            origin = _install(shelf, home, chosen, tell)
        except ProviderError as error:
            raised = f"{facts.title} {chosen.version} cannot be downloaded: {error}"
            instead = _installed_home(chosen)
            if instead is None:
                raise EngineError(raised) from error
            log.warning("%s The one in %s is used.", raised, instead)
            return Product(chosen.version, instead, _facts(chosen) | {"installed": str(instead)})
    return Product(chosen.version, home, origin)


def _directory(product: ProductFacts) -> str:
    return f"{product.version}-{product.provider}"


def _facts(chosen: ProductFacts) -> dict[str, Any]:
    return {"provider": chosen.provider, "package": chosen.package}


def _install(shelf: Path, home: Path, chosen: ProductFacts, tell: Tell) -> dict[str, Any]:
    """Download, verify and unpack a product; return its origin."""
    provider = _provider(chosen.provider)
    if not isinstance(provider, Brings):
        raise EngineError(f"engine.toml: the provider {chosen.provider!r} supplies no packages.")
    with _partial(shelf) as partial:
        archives, unpacked = partial / "archives", partial / "home"
        archives.mkdir()
        unpacked.mkdir()
        tell("downloading", 0, None, "bytes")
        files = _brought(provider, chosen, archives, tell)
        origin = _facts(chosen) | {"sha256": _verified(files, chosen, tell)}
        tell("unpacking", 0, None, "bytes")
        provider.unpack(files, unpacked)
        (unpacked / ORIGIN_FILE).write_text(json.dumps(origin, indent=2), encoding="utf-8")
        _open_to_all(unpacked)
        _flush(unpacked)
        if home.exists():  # A part of the existing directory was removed.
            shutil.rmtree(home)
        unpacked.rename(home)
    return origin


def _brought(provider: Brings, chosen: ProductFacts, into: Path, tell: Tell) -> list[Path]:
    if chosen.sha256 and isinstance(provider, BringsPinned):
        return provider.bring_pinned(chosen.package, chosen.sha256, into, tell)
    return provider.bring(chosen.package, into, tell)


def _verified(files: Sequence[Path], chosen: ProductFacts, tell: Tell) -> dict[str, str]:
    """Return the SHA-256 of every downloaded file, by name.

    Raises `ProviderError` for a file that differs from its pinned hash.
    """
    if not files:
        raise ProviderError(
            f"the downloaded package {chosen.package} contains no file: try another version."
        )
    expected_bytes, done_bytes = sum(file.stat().st_size for file in files), 0
    digests: dict[str, str] = {}
    for file in files:
        tell("verifying", done_bytes, expected_bytes, "bytes")
        digests[file.name] = _sha256(file)
        done_bytes += file.stat().st_size
    if chosen.sha256:
        _compare(digests, chosen.sha256)
    return digests


def _compare(digests: Mapping[str, str], pinned: Mapping[str, str]) -> None:
    for name, digest in digests.items():
        if name not in pinned:
            raise UnavailableError(
                f"the registry sent {name} instead of the expected {', '.join(pinned)}: it has "
                "another file for this machine. Choose another version."
            )
        if digest != pinned[name]:
            raise ProviderError(
                f"{name} has the SHA-256 {digest} instead of the expected {pinned[name]}, so "
                "Assay removed it. Clear the package client's cache and try again; if the "
                "digest is still wrong, do not use the package."
            )
    if missing := [name for name in pinned if name not in digests]:
        raise ProviderError(f"{', '.join(missing)} could not be downloaded: try again.")


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as source:
        while block := source.read(READ_BYTES):
            digest.update(block)
    return digest.hexdigest()


def _open_to_all(home: Path) -> None:
    """Let every user read and execute a product's files."""
    for path in (home, *home.rglob("*")):
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        executable = EXECUTABLE if path.is_dir() or mode & stat.S_IXUSR else 0
        path.chmod(stat.S_IMODE(mode) | READABLE | executable)


def _flush(directory: Path) -> None:
    """Flush a product's files to disk, so that it is complete after a crash."""
    for path in directory.rglob("*"):
        if path.is_file() and not path.is_symlink():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


@contextmanager
def _installing(shelf: Path, title: str, tell: Tell) -> Iterator[None]:
    """Hold the lock of an engine's installation, and remove interrupted ones."""
    shelf.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(shelf / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f"waiting for another installation of {title}", 0, None, "bytes")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        for debris in shelf.glob(f"{PARTIAL}*"):
            shutil.rmtree(debris)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _partial(shelf: Path) -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix=PARTIAL, dir=shelf))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _origin(home: Path) -> dict[str, Any] | None:
    """Return the origin of an installed product; None without one."""
    try:
        origin: dict[str, Any] = json.loads((home / ORIGIN_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise EngineError(
            f"{home / ORIGIN_FILE} is damaged: remove {home} and try again."
        ) from error
    return origin


def _provider(name: str) -> object:
    if importlib.util.find_spec(f"{PROVIDERS}.{name}") is None:
        raise EngineError(f"engine.toml: there is no provider {name!r}.")
    return importlib.import_module(f"{PROVIDERS}.{name}").provider


def _home_found(name: str, package: str) -> Path:
    provider = _provider(name)
    home = provider.installed(package) if isinstance(provider, Finds) else None
    if home is None:
        raise EngineError(f"the package {package} is missing.")
    return home


def _installed_home(chosen: ProductFacts) -> Path | None:
    provider = _provider(chosen.provider)
    return provider.installed(chosen.package) if isinstance(provider, Finds) else None


def _refused(error: OSError, shelf: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk of {shelf} is full: free space, or set XDG_CACHE_HOME to another one."
    return (
        f"{shelf} cannot be used ({error.strerror}): set XDG_CACHE_HOME to a place you can write."
    )
