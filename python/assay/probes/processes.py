"""CPU, faults, storage bytes, memory, switches and run-queue delay of our processes."""

from assay.probes.sampled import Sampled


class ProcessesProbe(Sampled):
    """Reads /proc/PID of every followed process and its descendants, and of their threads."""

    name = "processes"
    stream = "processes"
    cost = "reads four /proc files a process and two a thread at each sample"
    follows_processes = True


probe = ProcessesProbe
