"""Grade a class with several fork servers, and store each result as soon as it is there."""
