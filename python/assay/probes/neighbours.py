"""Samples CPU time and storage bytes of every process of the host, by name."""

from assay.probes.sampled import Sampled


class NeighboursProbe(Sampled):
    """Reads /proc/PID of all processes, to name other programs that used CPUs or disks."""

    name = "neighbours"
    stream = "neighbours"
    cost = "reads one /proc file a process once a second, and one more if the process ran"
    look_interval_s: float | None = 1.0
    core_share_max: float = 0.0005


probe = NeighboursProbe
