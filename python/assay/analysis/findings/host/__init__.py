"""Findings about the host: who else used it, and what it holds back."""
