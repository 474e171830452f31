"""Verify a course, for authors and CI: references pass, stubs fail, mistakes are named."""
