"""Grade a class with several fork servers and keep each result as it comes."""
