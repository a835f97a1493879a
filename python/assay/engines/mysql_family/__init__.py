"""Parts of servers that speak MySQL's protocol and SQL: queries, loading, sessions.

This package is not an engine; engines import it. `engine.FamilyEngine` is their base class, and
`server` starts private servers with a configuration file.
"""
