"""The catalogue of messages: errors, warnings, checks and findings, extracted from the source."""
