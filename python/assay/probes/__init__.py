"""Probes that sample the system while the driver runs.

One file per probe; each states its own cost.
"""
