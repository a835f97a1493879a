"""The time tree: wall time of operations, split until nothing more was measured.

One currency for all that is said of a run: every cause claims a part of one node of this tree.
"""
