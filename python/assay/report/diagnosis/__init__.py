"""Diagnosis of a run by experiments: the document, the page and the terminal output."""
