"""Records one run's changes to its host, each in a journal before it is made."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.errors import RunFailedError
from assay.running.changes.undo import SUFFIX, Journal, Step, locked
from assay.running.processes.instance_files import journal_of
from assay.running.server.instances import identity

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class HostChange:
    """One change to the host, in the form of run.json.

    Attributes:
        what: Description of the change.
        path: File, device or directory of the change.
        before, asked, effective: Earlier, requested and effective value of the change; None without
            a value.
        restored: Whether the run reverted the change itself.
    """

    what: str
    path: str
    before: str | None
    asked: str | None
    effective: str | None = None
    restored: bool = False


class Ledger:
    """The host changes of one run, with their journal."""

    def __init__(self, instance: Path) -> None:
        self.journal = Journal(journal_of(instance), identity())
        self.made: list[HostChange] = []
        self._lock: int | None = None

    @property
    def directory(self) -> Path:
        """The directory of the journals of all this user's runs."""
        return self.journal.path.parent

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of host changes, so that no other process makes or reverts one."""
        with locked(self.directory) as lock:
            self._lock = lock
            try:
                yield
            finally:
                self._lock = None

    @property
    def kept_open(self) -> tuple[int, ...]:
        """The file descriptors that programs which make a host change must keep open.

        The programs share the lock, so nothing is reverted before they have ended, even if this
        process dies. Without the shared lock, a mount could be made after its unmount.
        """
        return () if self._lock is None else (self._lock,)

    def write(self, file: Path, asked: str, what: str) -> HostChange:
        """Write a value to a kernel file, after the journal has the earlier value.

        Raises:
            RunFailedError: If the kernel refuses the value, or another active run has changed the
                file.
        """
        with self.locked():
            self.check_free(file)
            try:
                before = file.read_text(encoding="ascii").strip()
                self.journal.note(Step("write", str(file), what, before))
                file.write_text(asked, encoding="ascii")
                effective = file.read_text(encoding="ascii").strip()
            except OSError as error:
                raise RunFailedError(
                    f"{what}: {file} cannot be set to {asked}: {error.strerror}; run as root, "
                    f"or remove {what}"
                ) from error
        change = HostChange(what, str(file), before, asked, effective)
        self.made.append(change)
        return change

    def note(self, step: Step, asked: str) -> HostChange:
        """Journal how to revert a file's change, before another program makes it.

        Raises:
            RunFailedError: If another active run has changed the file.
            OSError: If the journal cannot be written.
        """
        with self.locked():
            self.check_free(Path(step.path))
            self.journal.note(step)
        change = HostChange(step.words, step.path, None, asked)
        self.made.append(change)
        return change

    def restore(self) -> list[str]:
        """Revert all host changes, and return descriptions of those that failed."""
        left: list[str] = []
        if self.journal.steps:
            with self.locked():
                left = self.journal.undo()
        for change in self.made:
            change.restored = not left
        return left

    def check_free(self, file: Path) -> None:
        """Refuse a file that another run has changed; the caller must hold the lock.

        Two runs that each restore the value they found would leave the first run's value.

        Raises:
            RunFailedError: If there is such a run. The error message says what to do.
        """
        for path in self.directory.glob(f"*{SUFFIX}"):
            if path == self.journal.path:
                continue
            try:
                other = Journal.read(path)
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if any(step.path == str(file) for step in other.steps):
                raise RunFailedError(
                    f"{file} is in use by the run {other.run}: wait for its end, or use `assay "
                    "doctor --restore` if that run was killed"
                )
