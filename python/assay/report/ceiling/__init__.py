"""Renders a host's ceiling: the document, the page, the terminal output and the exports."""
