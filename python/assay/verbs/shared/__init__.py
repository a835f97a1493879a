"""Parts that several verbs use: defaults, execution of studies, progress in a log."""
