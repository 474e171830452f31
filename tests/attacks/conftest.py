"""The attacks are data: nothing in their folders is a test of ours, and no conftest.py of theirs is
loaded.
"""

collect_ignore_glob = ["*/*"]
