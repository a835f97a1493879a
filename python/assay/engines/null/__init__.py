"""The engine `null`, which answers at once and does nothing, to measure the driver itself."""
