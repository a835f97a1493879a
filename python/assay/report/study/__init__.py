"""The report of a study: an article to read from top to bottom, as HTML, Markdown and text."""
