"""Values of published articles, results derived from them, and comparison with a study."""
