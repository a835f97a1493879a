"""Commands that make runs, one file each."""
