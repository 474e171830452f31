"""Verify a course, for authors and CI: references pass,
stubs fail, mistakes are caught and named.
"""
