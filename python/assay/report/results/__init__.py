"""Results of verbs that read records, with the document that `--json` prints."""
