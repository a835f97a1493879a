"""Types of document sections on the host, the server and their state."""
