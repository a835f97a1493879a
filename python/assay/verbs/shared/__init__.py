"""Parts that several verbs use: defaults, the carrying out of studies, progress in a log."""
