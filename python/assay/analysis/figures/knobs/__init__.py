"""Charts of engine settings that a study varied or searched."""
