"""Sections of documents, as plain values."""
