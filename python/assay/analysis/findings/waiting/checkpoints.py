"""Frequent checkpoints, which fill the log with full page images.

After a checkpoint the first change of each page puts the whole page into the log. With a small log,
a checkpoint is always under way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.case import at_least
from assay.model.finding import Advice, Evidence
from assay.model.units import bytes_text, count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.model.finding import Finding

METHOD = "checkpoints"
# Names of counters that the engine declares.
IMAGES, IMAGE_BYTES = "wal_full_page_images", "wal_full_page_bytes"
LOG_BYTES, REQUESTED = "wal_bytes", "checkpoints_requested"
LOG_SIZE = "log_size"
# Minimum number of checkpoints that the log's size triggered. One may come from the load's start.
REQUESTED_MIN = 2
# Any checkpoint causes a smaller share of full page images in the log.
IMAGES_SHARE_MIN = 0.3
EFFECT_MIN = 0.05
NAMED_SHARE = 0.02
LARGER = 16
PARTS = ("log", "waiting/disk_write", "computing/kernel")


def find(case: Case) -> list[Finding]:
    """Return the share of time that writing full page images took."""
    images, image_bytes = case.total(IMAGES), case.total(IMAGE_BYTES)
    logged = case.total(LOG_BYTES)
    requested, setting = case.total(REQUESTED) or 0.0, case.setting(LOG_SIZE)
    if not images or not image_bytes or not logged or requested < REQUESTED_MIN:
        return []
    share = min(1.0, image_bytes / logged)
    if share < IMAGES_SHARE_MIN:
        return []
    part = max(PARTS, key=lambda path: case.of_run(case.node(path)))
    fractions = at_least({name: own * share for name, own in case.node(part).items()}, NAMED_SHARE)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    beside = f" beside {setting.text}" if setting is not None else ""
    claim = (
        f"{count_text(requested)} checkpoints were asked for because the log was full{beside};"
        f" whole pages are {percent_text(share)} of the {bytes_text(logged)} of log"
    )
    evidence = [
        Evidence(f"{count_text(images)} whole pages in the log", f"counter:{IMAGES}"),
        Evidence(f"{count_text(requested)} checkpoints asked for", f"counter:{REQUESTED}"),
    ]
    advice, to_try = None, "a larger log, so that checkpoints are further apart"
    if setting is not None:
        evidence.append(Evidence(setting.text, f"setting:{setting.name}"))
        if setting.bytes:
            larger = LARGER * setting.bytes
            advice = Advice("setting", LOG_SIZE, {"value": str(larger)}, effect)
            does = f"sets {setting.name} to {bytes_text(larger)}"
            to_try = case.try_words(METHOD, fractions, does)
    best = sum(case.of_run(case.node(path)) for path in (*PARTS, "computing/queue"))
    finding = case.finding(
        METHOD, claim, fractions, to_try=to_try, evidence=evidence, advice=advice
    )
    return [finding.of(part, saved=(effect * share, min(1.0, best)))]
