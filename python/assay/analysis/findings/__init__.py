"""Claims about a run, each with its numbers. One file a finding; each has `find(case)`.

A finding is a pure function over a `Case` and knows no engine. It is silent where there is nothing
to say: below its thresholds, and where what it needs was not measured.
"""
