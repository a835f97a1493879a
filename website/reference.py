"""Pages of the reference, made from the code when the site is built."""

from __future__ import annotations

from commands import command_pages
from declared import document_page, engine_keys_page, study_keys_page, workload_keys_page
from functions import python_page
from lists import checks_page, engines_page, findings_page, workloads_page


def pages() -> dict[str, str]:
    """Return all pages of the reference that are made, by their place on the site."""
    return {
        **command_pages(),
        "reference/engines.md": engines_page(),
        "reference/workloads.md": workloads_page(),
        "reference/findings.md": findings_page(),
        "reference/checks.md": checks_page(),
        "reference/document.md": document_page(),
        "reference/study-keys.md": study_keys_page(),
        "reference/workload-keys.md": workload_keys_page(),
        "reference/engine-keys.md": engine_keys_page(),
        "reference/python.md": python_page(),
    }
