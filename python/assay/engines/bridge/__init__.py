"""JDBC for engines: a small Java process that loads the drivers, and a client for it.

This package is not an engine; engines import it. `beside` starts a bridge, `link` sends statements
to it, and `addresses` defines the form of an address.
"""
