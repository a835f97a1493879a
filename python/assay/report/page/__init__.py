"""The report page of a run: one HTML file."""
