"""Pure functions that compute tables and numbers from the stored records of runs."""
