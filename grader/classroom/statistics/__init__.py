"""A class as a whole: what its submissions come to together. Pure counting over
``gradebook.records``; no torch, no files.
"""
