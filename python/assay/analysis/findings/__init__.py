"""Claims about a run, each with its numbers. One file per finding; each has `find(case)`.

A finding is a pure function over a `Case` and knows no engine. It returns nothing below its
thresholds, and if its inputs were not measured.
"""
