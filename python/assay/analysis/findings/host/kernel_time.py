"""Finds operations that spent much of their CPU time in the kernel, with their page faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.finding import Evidence
from assay.model.units import bytes_text, count_text, percent_text

if TYPE_CHECKING:
    from assay.analysis.findings.case import Case
    from assay.analysis.summary import OperationSummary
    from assay.model.finding import Finding

METHOD = "kernel-time"
# Kernel time is reported if it is a fifth of an operation's time and a twentieth of the run's.
KERNEL_SHARE = 0.2
KERNEL_RUN_SHARE = 0.05
# Every execution has some page faults; fewer do not explain kernel time.
FAULTS_MIN = 100


def find(case: Case) -> list[Finding]:
    """Return a finding for each operation with much CPU time in the kernel."""
    findings = []
    for op in case.believable:
        system, user = op.where.get("cpu_system"), op.where.get("cpu_user")
        if system is None or user is None or user + system <= 0:
            continue
        effect = case.of_run({op.name: system})
        if system / (user + system) >= KERNEL_SHARE and effect >= KERNEL_RUN_SHARE:
            findings.append(_finding(case, op, system, system / (user + system)))
    return findings


def _finding(case: Case, op: OperationSummary, system: float, of_cpu: float) -> Finding:
    faults = ""
    if op.minor_faults and op.minor_faults >= FAULTS_MIN:
        faults = f", with {count_text(op.minor_faults)} page faults per execution"
    evidence = [
        Evidence(f"{percent_text(of_cpu)} of its CPU time was in the kernel", f"where:{op.name}")
    ]
    if op.read_bytes:
        evidence.append(
            Evidence(f"{bytes_text(op.read_bytes)} read per execution", f"where:{op.name}")
        )
    claim = f"{op.name} spent {percent_text(of_cpu)} of its CPU time in the kernel{faults}"
    return case.finding(METHOD, claim, {op.name: system}, tells="shape", evidence=evidence)
