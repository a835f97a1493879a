"""Recipes that obtain, start and query database products, one folder per product.

Engines are found in folders and in entry points of packages.
"""
