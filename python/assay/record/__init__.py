"""Run directories: written once, sealed, then read by checks, analysis and reports."""
