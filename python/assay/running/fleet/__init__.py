"""Load from several hosts: one plan, shared among drivers that begin together."""
