"""The gradebook: every result of a class, kept in one SQLite file, and the records in which it is
read.
"""
