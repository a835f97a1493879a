"""Charts of how time and cost grow with the number of clients and the scale of the data."""
