"""Renderings of a host's ceiling: the document, the page, the terminal and the exports."""
