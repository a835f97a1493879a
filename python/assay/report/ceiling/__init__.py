"""Reports on the maximum speed of a host's hardware: document, page, terminal, exports."""
