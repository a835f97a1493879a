"""What experiments say of causes."""
