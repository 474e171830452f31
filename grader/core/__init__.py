"""Code that all other packages use: records, errors, points, limits and languages. No torch."""
