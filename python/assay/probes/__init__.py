"""Probes that sample the system while the driver runs.

Each file holds one probe, which states its own cost.
"""
