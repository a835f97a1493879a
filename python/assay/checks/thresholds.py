"""Every numeric threshold of the checks; docs/numbers/checks.md repeats them (tested).

A noisy machine makes a run 'unknown': the numbers are there, and the reader is warned.
"""

# Hypervisor took this share of the machine: the engine had less than it seems.
STEAL_SHARE_MAX = 0.05
# Others used this share of the machine's CPUs.
BACKGROUND_SHARE_MAX = 0.10
# Two samples of a probe may be this many intervals apart.
PROBE_GAP_INTERVALS_MAX = 10.0
# Moments of hosts that drive together may be this far apart on the run's clock.
CLOCK_UNCERTAINTY_S_MAX = 0.02
# The load generator's share of the CPUs it may use, where it is a process of its own.
CLIENT_SHARE_MAX = 0.80
# The driver's lag may be this share of latency, each by its 99th percentile, ...
DRIVER_LAG_SHARE_MAX = 0.05
# ... and is of no concern below so many seconds.
DRIVER_LAG_S_MIN = 1e-4
# Probes may use this share of one core, without the one that takes CPU samples.
PROBE_CORE_SHARE_MAX = 0.02
# In an open load this share of the operations starts within a second of when it was due.
ON_TIME_SHARE_MIN = 0.95
# Waiting operations at the end of an open load, in seconds of its rate.
BACKLOG_SECONDS_MAX = 0.1
# A backlog that does not grow has a trend as steady as this one by chance.
BACKLOG_TREND_CHANCE_MAX = 0.01
# Sampling and unwinding may use this share of one core.
PROFILE_CORE_SHARE_MAX = 0.05
# CPU seconds that samples stand for may differ from the kernel's count by this share of it.
PROFILE_DIFFERENCE_MAX = 0.03
# Of the samples that were due this share may be lost.
SAMPLES_LOST_SHARE_MAX = 0.01
# A cold run begins with this share of the data files in memory at most.
COLD_RESIDENT_SHARE_MAX = 0.05
# An os-warm run begins with this share of them in memory at least.
WARM_RESIDENT_SHARE_MIN = 0.95
# What an engine reads of its programs and libraries in its first query comes to no more than this.
PROGRAMS_READ_BYTES_MAX = 1 << 28
# What is limited may be used by this share more than was allowed, and the limit is still one.
LIMIT_EXCESS_SHARE_MAX = 0.1
# Others moved this share of a trial's own bytes on the device: it was disturbed.
CEILING_OTHERS_BYTES_SHARE_MAX = 0.05
# This share of a ceiling's trials of the disk may be disturbed.
CEILING_DISTURBED_SHARE_MAX = 0.10
# A resource that was to be slower may be so by a part of this more or less than was asked.
SLOWED_DIFFERENCE_MAX = 0.03
# Of the engine's CPU time this share may be overlooked by what slows it.
SLOWED_OVERLOOKED_MAX = 0.10
# Of what the disk read this share may be read while the engine stands still.
SLOWED_AHEAD_SHARE_MAX = 0.10
# What slows the engine may use this share of one core.
SLOWER_CORE_SHARE_MAX = 0.10
# So many standard errors beyond its bound a specified rate may be by chance.
RATE_ERRORS_MAX = 2.0
