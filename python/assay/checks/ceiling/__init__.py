"""Checks on measurements of a host's hardware, one file each."""
