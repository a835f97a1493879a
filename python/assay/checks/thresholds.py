"""Every numeric threshold of the checks, in one place; docs/methodology.md repeats them (tested).

A noisy machine makes a run 'unknown': the numbers are there, and the reader is warned.
"""

# Hypervisor took this share of the machine: the engine had less than it seems.
STEAL_SHARE_MAX = 0.05
# Others used this share of the machine's CPUs.
BACKGROUND_SHARE_MAX = 0.10
# Two samples of a probe may be this many intervals apart.
PROBE_GAP_INTERVALS_MAX = 10.0
# The load generator's share of the CPUs it may use, where it is a process of its own.
CLIENT_SHARE_MAX = 0.80
# Probes may use this share of one core.
PROBE_CORE_SHARE_MAX = 0.02
