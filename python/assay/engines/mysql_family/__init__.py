"""Shared code of engines with MySQL's protocol: queries, loading, sessions.

This package is not an engine; engines import it. `engine.FamilyEngine` is their base class, and
`server` starts private servers with a configuration file.
"""
