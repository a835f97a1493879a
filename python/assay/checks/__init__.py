"""Checks that judge whether a run is valid.

Each file holds one check, whose `check(run)` reads only the record.
"""
