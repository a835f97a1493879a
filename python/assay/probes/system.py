"""Samples CPU times of every CPU, memory, paging and pressure stalls of the host."""

from assay.probes.sampled import Sampled


class SystemProbe(Sampled):
    """Samples /proc/stat, meminfo, vmstat and pressure/*."""

    name = "system"
    stream = "system"
    cost = "reads six /proc files at each sample"
    core_share_max: float = 0.001


probe = SystemProbe
