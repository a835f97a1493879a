"""Shared code of engines that speak the SPARQL protocol over HTTP."""
