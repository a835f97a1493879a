"""The command line: one file per command, in folders by the sections of `assay --help`."""
