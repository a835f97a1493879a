"""Commands that show and export measurements, one file each."""
