"""JDBC for engines: a small process in Java that has the drivers, and a client for it.

Not an engine: engines import it. `process` says how the bridge is started, `link` asks it.
"""
