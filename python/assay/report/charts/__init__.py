"""Charts, drawn from documents."""
