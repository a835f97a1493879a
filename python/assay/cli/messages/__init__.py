"""The catalogue of messages: errors, warnings, checks and findings, read out of the source."""
