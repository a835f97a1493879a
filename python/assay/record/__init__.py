"""Run directories: written once, protected by checksums, then read by analyses."""
