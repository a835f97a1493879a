"""Reports on a diagnosis by experiments: document, page and terminal output."""
