"""Types of document sections on CPU samples."""
