"""The rows that answers are compared with, and the engine that says which are right."""
