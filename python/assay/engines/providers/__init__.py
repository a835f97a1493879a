"""Providers that obtain engines: one file each, named in `engine.toml`."""
