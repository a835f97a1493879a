"""Results of verbs that read records: the document that `--json` prints, and what it is made of."""
