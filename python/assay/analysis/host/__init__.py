"""Analyses the host during a run: CPUs, memory, disks, limits and other programs."""
