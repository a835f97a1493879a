"""What the host did meanwhile: CPUs, memory, disks, limits, and neighbours."""
