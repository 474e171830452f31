"""A class graded: many submissions over several hosts, each result kept as it comes, the files that
people open made from what was kept.
"""
