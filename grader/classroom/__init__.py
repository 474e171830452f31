"""A class, from its downloads to its marks: read, grade, keep, export and publish."""
