"""The time tree: wall time of operations, split into causes and their sub-causes.

All statements about a run's time share this unit: every cause claims a part of one node of the
tree.
"""
