"""Types of document sections on query plans."""
