"""Makes a document from each run; terminal, page, charts and exports all render this document.

This package computes no figures. They come from `assay.analysis`.
"""
