"""Virtuoso: private servers, asked over JDBC."""
