"""Finds frequent checkpoints, which fill the log with full page images.

After a checkpoint the first change of each page puts the whole page into the log. With a small log,
a checkpoint is always under way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.analysis.findings.memory.cache import copying_share
from assay.analysis.findings.operation_shares import at_least
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
KERNEL_PART = "computing/kernel"
PARTS = ("log", "waiting/disk_write", KERNEL_PART)


def find(case: Case) -> list[Finding]:
    """Return a finding of the share of time that writing full page images to the log took."""
    images, image_bytes = case.total(IMAGES), case.total(IMAGE_BYTES)
    logged = case.total(LOG_BYTES)
    requested, setting = case.total(REQUESTED) or 0.0, case.setting(LOG_SIZE)
    if not images or not image_bytes or not logged or requested < REQUESTED_MIN:
        return []
    share = min(1.0, image_bytes / logged)
    if share < IMAGES_SHARE_MIN:
        return []
    written = {path: _written_fractions(case, path, share, image_bytes) for path in PARTS}
    part = max(PARTS, key=lambda path: case.of_run(written[path]))
    fractions = at_least(written[part], NAMED_SHARE)
    effect = case.of_run(fractions)
    if effect < EFFECT_MIN:
        return []
    beside = f" with {setting.text}" if setting is not None else ""
    claim = (
        f"{count_text(requested)} checkpoints were requested because the log was full{beside}; "
        f"full-page images are {percent_text(share)} of the {bytes_text(logged)} of log"
    )
    evidence = [
        Evidence(f"{count_text(images)} full-page images in the log", f"counter:{IMAGES}"),
        Evidence(f"{count_text(requested)} checkpoints requested", f"counter:{REQUESTED}"),
    ]
    advice, to_try = None, "use a larger log, so that checkpoints are less frequent"
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


def _written_fractions(case: Case, path: str, share: float, image_bytes: float) -> dict[str, float]:
    """Return the images' share of a node of the time tree, for each operation.

    Kernel time has other uses than the log: the images have at most what copying them takes.
    """
    most = copying_share(case, image_bytes) if path == KERNEL_PART else 1.0
    return {name: min(own * share, most) for name, own in case.node(path).items()}
