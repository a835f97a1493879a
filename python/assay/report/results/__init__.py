"""Results of commands that read records, each with the document that `--json` prints."""
