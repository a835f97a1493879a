"""Renderings of runs: one document, and from it the terminal, the page, the charts and the exports.

Nothing here computes a figure; that is analysis.
"""
