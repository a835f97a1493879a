"""Resource limits of an engine, by a control group of the kernel that contains only the engine."""
