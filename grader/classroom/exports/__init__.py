"""A gradebook in the formats of other systems: one module a format, each a pure function over the
gradebook's records.
"""
