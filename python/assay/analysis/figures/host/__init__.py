"""Charts of a host's disk, memory and CPUs."""
