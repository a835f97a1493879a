"""Recipes for database products. Engines are found by scanning folders and entry points."""
