"""Studies in files: what `study.toml` says, and the runs that follow from it."""
