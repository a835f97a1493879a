"""Causes of a run, tried by experiments: the document, the page and the lines of a terminal."""
