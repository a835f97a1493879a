"""What servers share that speak the protocol of MySQL and its SQL: asking, loading, sessions.

Not an engine: engines import it. `engine.FamilyEngine` is what they are made from, `server` starts
private ones that are configured by a file.
"""
