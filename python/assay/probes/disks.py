"""Samples reads, writes and queueing of every block device."""

from assay.probes.sampled import Sampled


class DisksProbe(Sampled):
    """Samples /proc/diskstats, the kernel's counters of disks."""

    name = "disks"
    stream = "disks"
    cost = "reads one /proc file at each sample"
    core_share_max: float = 0.0007


probe = DisksProbe
