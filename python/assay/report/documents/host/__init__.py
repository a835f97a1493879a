"""Documents' types of the host, the server and the state they were in."""
