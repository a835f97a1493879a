"""Analyses an observed server: the time of each statement, and the waits of its sessions."""
