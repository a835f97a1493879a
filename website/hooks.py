"""Pages of the site that do not stand in `docs/`: READMEs, and the reference made from the code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parent))

from mkdocs.structure.files import File
from mkdocs.utils import get_relative_url

from links import site_links, source_links, spaced_lists
from reference import pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "python" / "assay"
WORKER_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"
WORKER = "assets/search-worker.js"
# Pages outside of docs/, by their path in the repository.
OUTSIDE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "design/architecture.md",
    "CONTRIBUTING.md": "design/contributing.md",
    "CHANGELOG.md": "changelog.md",
    "tests/planted/README.md": "proof/planted.md",
}
# Source files and folders, and the pages made from them: a link leads to the one or to the other.
MADE_FROM = {
    "python/assay/cli": "reference/cli/index.md",
    "python/assay/engines": "reference/engines.md",
    "python/assay/workloads": "reference/workloads.md",
    "python/assay/analysis/findings": "reference/findings.md",
    "python/assay/checks": "reference/checks.md",
    "python/assay/report/documents": "reference/document.md",
    "python/assay/study/declared/facts.py": "reference/study-keys.md",
    "python/assay/workloads/facts.py": "reference/workload-keys.md",
    "python/assay/engines/facts.py": "reference/engine-keys.md",
    "python/assay/verbs": "reference/python.md",
}
# Folders of READMEs, and where these stand on the site.
FOLDERS = {"engines": "engines", "workloads": "workloads/data", "studies": "studies/about"}


def outside_pages() -> dict[str, str]:
    """Return the place of each page outside of `docs/`, by its path in the repository."""
    places = dict(OUTSIDE)
    for folder, place in FOLDERS.items():
        for readme in sorted((PACKAGE / folder).glob("*/README.md")):
            name = readme.parent.name.replace("_", "-")
            places[readme.relative_to(ROOT).as_posix()] = f"{place}/{name}.md"
    for readme in sorted(PACKAGE.glob("workloads/*/answers/README.md")):
        workload = readme.parents[1].name
        places[readme.relative_to(ROOT).as_posix()] = f"workloads/data/{workload}-answers.md"
    return places


OUTSIDE_PAGES = outside_pages()
OF_PLACE = {place: path for path, place in OUTSIDE_PAGES.items()}
PLACES = {**OUTSIDE_PAGES, **MADE_FROM}


def on_config(config: MkDocsConfig) -> None:
    """Lists the pages of a folder where the navigation names one: `reference/cli/`."""
    places = [*OUTSIDE_PAGES.values(), *pages()]
    places += [path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md"))]
    config.nav = _listed(config.nav, places)


def _listed(entry: Any, places: list[str]) -> Any:  # noqa: ANN401 - a tree of YAML
    """Return the navigation with each folder as the list of its pages."""
    if isinstance(entry, list):
        return [_listed(one, places) for one in entry]
    if isinstance(entry, dict):
        return {title: _listed(below, places) for title, below in entry.items()}
    if not entry.endswith("/"):
        return entry
    below = [
        place for place in places if place.startswith(entry) and "/" not in place[len(entry) :]
    ]
    return sorted(below, key=lambda place: (not place.endswith(("index.md", "README.md")), place))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds pages that stand elsewhere, pages made from the code, and linked source files."""
    linked: set[str] = set()
    for file in files.documentation_pages():
        linked |= source_links(file.content_string, f"docs/{file.src_uri}", PLACES, ROOT)
    for path, place in OUTSIDE_PAGES.items():
        text = (ROOT / path).read_text("utf-8")
        linked |= source_links(text, path, PLACES, ROOT)
        files.append(File.generated(config, place, content=text))
    for place, text in pages().items():
        linked |= source_links(text, f"docs/{place}", PLACES, ROOT)
        files.append(File.generated(config, place, content=text))
    for path in sorted(linked):
        files.append(File.generated(config, f"source/{path}", abs_src_path=str(ROOT / path)))
    return files


def on_post_page(output: str, page: Page, **_: object) -> str:
    """Takes the worker of the search from the site itself instead of from a server elsewhere."""
    return output.replace(WORKER_ELSEWHERE, get_relative_url(WORKER, page.url))


def on_post_template(output_content: str, **_: object) -> str:
    """Does the same for the page that is shown for a wrong address."""
    return output_content.replace(WORKER_ELSEWHERE, f"/{WORKER}")


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Mends links that lead out of `docs/`, and the form of lists."""
    place = page.file.src_uri
    path = OF_PLACE.get(place, f"docs/{place}")
    if path == "README.md":
        # The page has no neighbours that a list beside it could name.
        page.meta["hide"] = ["navigation"]
    return spaced_lists(site_links(markdown, path, place, PLACES, ROOT))
