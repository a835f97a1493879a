"""Types of document sections on plans."""
