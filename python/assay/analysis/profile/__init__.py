"""What the engine worked at, by CPU samples."""
