"""Whether answers are right, and whether what was acknowledged is there."""
