"""What became of findings' advice."""
