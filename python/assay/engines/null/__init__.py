"""The engine that answers at once."""
