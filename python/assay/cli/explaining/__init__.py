"""Commands that explain results, one file each."""
