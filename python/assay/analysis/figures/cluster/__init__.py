"""Study results on clusters: counters, barriers, scaling and predicted sizes."""
