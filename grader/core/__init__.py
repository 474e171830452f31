"""Records, errors, points, limits and languages: what every other package uses. No torch."""
