"""Lists on a terminal: what there is, what is allowed, what was written."""
