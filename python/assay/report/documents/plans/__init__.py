"""Documents' types of plans."""
