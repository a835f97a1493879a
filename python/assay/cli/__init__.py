"""The command line: one file a verb, in rooms by the sections of `assay --help`."""
