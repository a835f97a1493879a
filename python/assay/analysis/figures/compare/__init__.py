"""Study results that compare engines, versions or settings."""
