"""The documents that `--json` prints, as types; their JSON Schemas are generated from these."""
