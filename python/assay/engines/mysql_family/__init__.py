"""Parts of servers that speak MySQL's protocol and SQL: queries, loading, sessions.

Not an engine: engines import it. `engine.FamilyEngine` is what they are made from, `server` starts
private ones that are configured by a file.
"""
