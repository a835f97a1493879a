"""Runs a registry's client program and gives advice if it fails."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engines.providers.contract import ProviderError, UnavailableError
from assay.model.secrets import environment_without_secrets, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from assay.engines.contract import Tell

LOOK_S = 0.2
CLIENT_PATIENCE_S = 1800.0
WORDS_MAX = 3
_DISK_FULL = re.compile(r"(?i)no space left on device|disk quota exceeded")
_NO_NETWORK = re.compile(
    r"(?i)temporary failure (?:in name resolution|resolving)|could not resolve(?: host)?:|"
    r"unknown host|name or service not known|network is unreachable|connection (?:refused|timed out"
    r"|reset)|connect timed out|no route to host|dns error|failed to establish a new connection|"
    r"no such host|i/o timeout|"
    r"UnknownHostException|could not connect to"
)
_ERROR_LINE = re.compile(r"(?i)\berror\b|^E:|^W:|fail|cannot|not found|no matching")


@dataclass(frozen=True)
class Client:
    """A client program that downloads from a package registry.

    Attributes:
        name: Name of the program for users.
        programs: Possible commands in order of preference, each with its first arguments.
        install: Advice if the program is not installed.
        not_there: Pattern of the output for a package that the registry does not have.
        mend: Advice for a package that the registry does not have.
        mends: Advice for other outputs, by pattern; the first match is used.
        chatter: Pattern of normal output lines, which do not explain a failure.
        progress: Converts the output so far to phase, amount and unit; None means progress is
            counted in received bytes.
        variables: Prefixes of the program's own environment variables, which may hold credentials
            for its registry.
        patience_s: Maximum wall time in seconds.
    """

    name: str
    programs: tuple[tuple[str, ...], ...]
    install: str
    not_there: str
    mend: str
    mends: Mapping[str, str] = field(default_factory=dict)
    chatter: str = "$^"
    progress: Callable[[str], tuple[str, float, str]] | None = None
    variables: tuple[str, ...] = ()
    patience_s: float = CLIENT_PATIENCE_S

    def run(
        self,
        arguments: Sequence[str],
        into: Path,
        tell: Tell,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Run a package registry's client program in a directory, and report its progress.

        Args:
            arguments: Arguments after the program and its first arguments.
            into: Target directory.
            tell: Receives the progress.
            environment: Variables in addition to the inherited ones, of which passwords of other
                programs, such as PGPASSWORD, are not passed on.

        Raises:
            ProviderError: If the program is missing, fails or exceeds its time. The error message
                says what to do.
            UnavailableError: If the registry is the cause.
        """
        command = [*self._program(), *arguments]
        with tempfile.NamedTemporaryFile() as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=into,
                env=self._inherited() | {"LC_ALL": "C", "NO_COLOR": "1"} | dict(environment or {}),
                # Processes that the client starts, such as compilers, end with it.
                process_group=0,
            )
            said = Path(output.name)
            try:
                self._await(process, lambda: tell(*self._arrived(said, into)))
            except _FailedError as failure:
                raise self._explained(_text(said), failure) from None

    def _inherited(self) -> dict[str, str]:
        # A client may execute programs of a package, and none needs the passwords of databases.
        return environment_without_secrets(os.environ, self.variables)

    def _program(self) -> list[str]:
        # A program of Assay's own environment exists even if it is not on the PATH.
        own = str(Path(sys.executable).parent)
        for name, *arguments in self.programs:
            program = shutil.which(name) or shutil.which(name, path=own)
            if program is not None:
                return [program, *arguments]
        raise UnavailableError(f"{self.name} is not installed: {self.install}.")

    def _await(self, process: subprocess.Popen[bytes], look: Callable[[], None]) -> None:
        looks = round(self.patience_s / LOOK_S)
        try:
            for _ in range(looks):
                try:
                    status = process.wait(LOOK_S)
                except subprocess.TimeoutExpired:
                    look()
                    continue
                if status != 0:
                    raise _FailedError(f"ended with status {status}")
                return
            raise _FailedError(f"did not end within {self.patience_s:.0f} s")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _arrived(self, said: Path, into: Path) -> tuple[str, float, None, str]:
        """Return the progress of a download: phase, amount, expected amount and unit."""
        if self.progress is None:
            return f"downloading with {self.name}", _size_bytes(into), None, "bytes"
        phase, amount, unit = self.progress(_text(said))
        return phase, amount, None, unit

    def _explained(self, output: str, failure: Exception) -> ProviderError:
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        lines = [line for line in lines if not re.search(self.chatter, line)]
        telling = [line for line in lines if _ERROR_LINE.search(line)] or lines
        # The output may contain registry URLs with passwords.
        said = without_secrets(" / ".join(telling[:WORDS_MAX]) or "nothing")
        if _DISK_FULL.search(output):
            return ProviderError(
                f"the disk is full: free space, or set XDG_CACHE_HOME. Output of {self.name}: "
                f"{said}"
            )
        if re.search(self.not_there, output):
            return UnavailableError(f"{self.mend}. Output of {self.name}: {said}")
        for pattern, mend in self.mends.items():
            if re.search(pattern, output):
                return ProviderError(f"{mend}. Output of {self.name}: {said}")
        if _NO_NETWORK.search(output):
            return UnavailableError(
                f"{self.name} cannot reach its registry: check the network and {self.name}'s "
                "own configuration, or name installed programs with --bin-dir. Its output: "
                f"{said}"
            )
        return ProviderError(f"{self.name} {failure}; its output: {said}")


class _FailedError(Exception):
    """Error: a registry's client program failed."""


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _size_bytes(directory: Path) -> int:
    """Return the bytes of all files below a directory, where a client makes and removes others."""
    total_bytes = 0
    # Unlike `Path.rglob`, `os.walk` goes on if a directory disappears.
    for place, _, names in os.walk(directory):
        for name in names:
            with suppress(FileNotFoundError):
                total_bytes += Path(place, name).lstat().st_size
    return total_bytes
