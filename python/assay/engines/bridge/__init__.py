"""JDBC for engines: a small process in Java that has the drivers, and a client for it.

This is not an engine; engines import it. `beside` starts a bridge, `link` sends it statements, and
`addresses` defines the form of an address.
"""
