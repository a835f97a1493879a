"""Terminal output of the results of all commands."""
