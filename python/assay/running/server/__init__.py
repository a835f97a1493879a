"""Servers: started, reached, filled, killed, and looked at after a crash."""
