"""Run directories: written once, sealed, and read by everything to the right of them."""
