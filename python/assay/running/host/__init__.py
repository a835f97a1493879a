"""Describes the host: its devices and memory, and what can be measured on it."""
