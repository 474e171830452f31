"""What authors and CI do: references pass, stubs fail, mistakes are caught and named."""
