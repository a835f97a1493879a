"""Checks of observations, in which nothing was driven: a file each."""
