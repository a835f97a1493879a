"""Studies in files: reading `study.toml`, and the runs that follow from it."""
