"""Figures of the host's disk, memory and CPUs."""
