"""Study results on the resources that limit queries, and on the effects of changes."""
