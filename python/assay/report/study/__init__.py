"""Makes the report of a study: an article as HTML, Markdown and text."""
