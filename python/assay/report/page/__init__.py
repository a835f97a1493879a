"""The page of a run: one file of HTML."""
