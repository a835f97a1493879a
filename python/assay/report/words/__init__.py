"""Sentences and rows of text that terminal and page share."""
