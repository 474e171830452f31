"""The gradebook: every result of a class in one SQLite file, and the records to read it."""
