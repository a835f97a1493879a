"""Types of documents: plain values, of which the JSON Schema is made."""
