"""Records of a server's own statements: what each came to, and what its sessions waited for."""
