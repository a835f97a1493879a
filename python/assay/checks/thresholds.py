"""All numeric thresholds of the checks.

A noisy machine makes a run unknown: its figures are shown with a warning.
"""

# Maximum share of the machine's CPU time that the hypervisor may steal.
STEAL_SHARE_MAX = 0.05
# Maximum share of the machine's CPUs that other processes may use.
BACKGROUND_SHARE_MAX = 0.10
# Maximum gap between two samples of a probe, in sampling intervals.
PROBE_GAP_INTERVALS_MAX = 10.0
# Maximum clock difference in seconds between hosts that drive together.
CLOCK_UNCERTAINTY_S_MAX = 0.02
# Maximum share of the CPUs available to a load generator in its own process.
CLIENT_SHARE_MAX = 0.80
# Maximum driver lag as a share of latency, both at the 99th percentile, ...
DRIVER_LAG_SHARE_MAX = 0.05
# ... which is judged only if the lag is above this many seconds.
DRIVER_LAG_S_MIN = 1e-4
# Maximum share of one core that probes may use, without the CPU profile.
PROBE_CORE_SHARE_MAX = 0.02
# Minimum share of an open load's operations that start within a second of their due time.
ON_TIME_SHARE_MIN = 0.95
# Maximum number of operations that may wait at the end of an open load, in seconds of its rate.
BACKLOG_SECONDS_MAX = 0.1
# Maximum probability that a backlog without growth shows a trend this steady by chance.
BACKLOG_TREND_CHANCE_MAX = 0.01
# Maximum share of one core that sampling and unwinding of the CPU profile may use.
PROFILE_CORE_SHARE_MAX = 0.05
# Maximum difference between the CPU seconds of samples and of the kernel, as a share of the
# kernel's.
PROFILE_DIFFERENCE_MAX = 0.03
# Maximum share of lost CPU samples.
SAMPLES_LOST_SHARE_MAX = 0.01
# Maximum share of the data files in memory at the start of a cold run.
COLD_RESIDENT_SHARE_MAX = 0.05
# Minimum share of the data files in memory at the start of an os-warm run.
WARM_RESIDENT_SHARE_MIN = 0.95
# Maximum bytes of programs and libraries that an engine reads in its first query.
PROGRAMS_READ_BYTES_MAX = 1 << 28
# Maximum share by which the use of a limited resource may exceed its limit.
LIMIT_EXCESS_SHARE_MAX = 0.1
# A disk trial is disturbed if other programs moved this share of its own bytes on the device.
CEILING_OTHERS_BYTES_SHARE_MAX = 0.05
# Maximum share of a ceiling's disk trials that may be disturbed.
CEILING_DISTURBED_SHARE_MAX = 0.10
# Maximum relative difference between the measured and the requested factor of slowing.
SLOWED_DIFFERENCE_MAX = 0.03
# Maximum share of the engine's CPU time that the slowing may overlook.
SLOWED_OVERLOOKED_MAX = 0.10
# Maximum share of disk reads that may happen while the engine is stopped.
SLOWED_AHEAD_SHARE_MAX = 0.10
# Maximum share of one core that the slowing itself may use.
SLOWER_CORE_SHARE_MAX = 0.10
# Number of standard errors by which a specified rate may exceed its bound by chance.
RATE_ERRORS_MAX = 2.0
