"""Studies in files: parsing of `study.toml`, and the resulting runs."""
