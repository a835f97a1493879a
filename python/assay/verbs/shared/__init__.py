"""Code that several commands share: defaults, execution of studies, progress in a log."""
