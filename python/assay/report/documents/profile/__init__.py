"""Documents' types of CPU samples."""
