"""CPU samples for the tools that show profiles: one file per format.

All of them hold the samples that fell into operations, or into one of them. A format is a module
with `SUFFIX` and `write(source, out)`.
"""
