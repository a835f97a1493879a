"""Makes a document of results from each run; terminal, page, charts and exports render it.

This package computes no figures. They come from `assay.analysis`.
"""
