"""Charts of runs, drawn from their JSON documents."""
