"""Results of commands that read records, with the documents that `--json` prints."""
