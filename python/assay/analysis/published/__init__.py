"""Figures of published articles: values, derived figures, and comparison with a study."""
