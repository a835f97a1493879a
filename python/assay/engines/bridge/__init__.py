"""JDBC for engines: a small process in Java that has the drivers, and a client for it.

Not an engine: engines import it. `beside` starts a bridge, `link` asks it; an address
is what `addresses` says.
"""
