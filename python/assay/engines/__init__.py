"""Recipes that obtain, start and query database products.

Engines are found in folders and in entry points of packages.
"""
