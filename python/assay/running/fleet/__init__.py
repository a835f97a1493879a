"""Load from several hosts: drivers share one plan and begin together."""
