"""Exports CPU samples for profile viewers: one module per file format.

Each export holds the samples within operations, or within one operation. A format is a module with
`SUFFIX` and `write(source, out)`.
"""
