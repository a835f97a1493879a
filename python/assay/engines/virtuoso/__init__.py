"""Virtuoso: private servers, queried over JDBC."""
