"""Sentences and rows of text that terminal and page both use."""
