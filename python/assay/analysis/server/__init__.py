"""What else went on in the server: other sessions, upkeep, and who blocked whom."""
