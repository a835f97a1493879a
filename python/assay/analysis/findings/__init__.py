"""Findings (claims about a run with their evidence); each file has one `find(case)`.

`find` is a pure function of a `Case` and depends on no engine. It returns no finding below its
thresholds, or if its inputs were not measured.
"""
