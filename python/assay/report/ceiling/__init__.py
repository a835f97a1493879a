"""Renderings of what a host can do: the document, the page, the terminal and the exports."""
