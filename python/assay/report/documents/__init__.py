"""Types of the documents that `--json` prints; their JSON Schemas are generated from them."""
