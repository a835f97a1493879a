"""Finds the mounted control groups, and those of the current process.

In version 1 controllers have separate trees or share one; in version 2 all are in one tree. A host
may have controllers of both versions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

ROOT = Path("/")


@dataclass(frozen=True)
class Hierarchies:
    """Directories of the control groups that this process is in.

    Attributes:
        first: Directory of this process's group, by controller of version 1.
        second: Directory of this process's group in the tree of version 2; None if it is not
            mounted.
        top: Topmost visible directory of that tree.
    """

    first: dict[str, Path] = field(default_factory=dict)
    second: Path | None = None
    top: Path | None = None

    def controllers(self) -> set[str]:
        """Return the controllers that the version 2 tree of control groups offers."""
        if self.top is None:
            return set()
        return set((self.top / "cgroup.controllers").read_text(encoding="ascii").split())


def find_hierarchies(root: Path = ROOT) -> Hierarchies:
    """Return the control groups of the current process."""
    try:
        mounts = (root / "proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
        members = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return Hierarchies()
    ours = {name: path for line in members for name, path in _membership(line)}
    first: dict[str, Path] = {}
    second = top = None
    for line in mounts:
        mount, _, rest = line.partition(" - ")
        kind, _, options = (*rest.split(), "", "", "")[:3]
        within, place = mount.split()[3:5]
        mounted = root / place.lstrip("/")
        if kind == "cgroup2" and top is None:
            top, second = mounted, _group(mounted, within, ours.get("", "/"))
        elif kind == "cgroup":
            for controller in set(options.split(",")) & set(ours):
                first.setdefault(controller, _group(mounted, within, ours[controller]))
    return Hierarchies(first, second, top)


def _membership(line: str) -> list[tuple[str, str]]:
    """Return the controllers in a line of /proc/self/cgroup, with this process's group."""
    _, controllers, path = line.split(":", 2)
    return [(name, path) for name in controllers.split(",")]


def _group(mounted: Path, within: str, path: str) -> Path:
    """Return the directory of this process's control group below a mount."""
    below = PurePosixPath(path)
    if not below.is_relative_to(within):
        return mounted
    return mounted / below.relative_to(within)
