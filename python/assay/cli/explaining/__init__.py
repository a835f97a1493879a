"""Verbs that say why: a file each."""
