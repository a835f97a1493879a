"""Writes the licences of everything that is linked into the core: a wheel has to carry them.

`python wheels/licences.py LICENSES-linked.txt`. Which crates are linked is asked of cargo; the
texts are those of the crates themselves.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
CORE = "assay-python"
NAME = re.compile(r"(un)?licen[cs]e|copying|copyright|notice", re.IGNORECASE)
RULE = "=" * 80
OURS = "Apache-2.0"
TEXT_OF_OURS = f"The text of {OURS} is in the file LICENSE."
# Linked, too, and no crate that cargo lists.
STANDARD_LIBRARY = f"""{RULE}
Rust standard library
Licence: MIT OR {OURS}
By: the Rust Project's contributors

{TEXT_OF_OURS}"""


def linked_crates(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the crates of others that are linked, without those that only build the core."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [key for key, package in packages.items() if package["name"] == CORE]
    linked: set[str] = set()
    while waiting:
        key = waiting.pop()
        if key not in linked:
            linked.add(key)
            waiting += _linked_by(nodes[key], packages)
    others = [packages[key] for key in linked if packages[key]["source"]]
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def _linked_by(node: dict[str, Any], packages: dict[str, Any]) -> Iterator[str]:
    for dependency in node["deps"]:
        kinds = {kind["kind"] for kind in dependency["dep_kinds"]}
        targets = packages[dependency["pkg"]]["targets"]
        is_macro = any("proc-macro" in target["kind"] for target in targets)
        # A kind of null is an ordinary dependency.
        if None in kinds and not is_macro:
            yield dependency["pkg"]


def licence_files(folder: Path) -> list[Path]:
    """Return the files of a crate that state its licence."""
    return sorted(path for path in folder.iterdir() if NAME.match(path.name) and path.is_file())


def chapter(package: dict[str, Any]) -> str:
    """Return a crate's name, its licence and the texts of its licence files.

    Raises:
        SystemExit: If the crate has no such file, and its licence is not the one of Assay.
    """
    files = licence_files(Path(package["manifest_path"]).parent)
    texts = [path.read_text(encoding="utf-8", errors="replace").strip() for path in files]
    if not texts and OURS not in package["license"]:
        raise SystemExit(f"{package['name']}: no text of its licence, {package['license']}")
    authors = ", ".join(package["authors"]) or package["repository"] or package["name"]
    head = f"{package['name']} {package['version']}\nLicence: {package['license']}\nBy: {authors}"
    return "\n\n".join([f"{RULE}\n{head}", *(texts or [TEXT_OF_OURS])])


def metadata() -> dict[str, Any]:
    """Return what cargo knows of the workspace, for this host's platform."""
    version = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    platform = next(
        line.removeprefix("host: ") for line in version.splitlines() if line.startswith("host: ")
    )
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--filter-platform", platform]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    document: dict[str, Any] = json.loads(shown)
    return document


def main(out: Path) -> None:
    """Write the file."""
    chapters = [STANDARD_LIBRARY, *(chapter(crate) for crate in linked_crates(metadata()))]
    out.write_text("\n\n".join(chapters) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
