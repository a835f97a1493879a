"""Rules about functions and triggers that the engine executes within statements."""
