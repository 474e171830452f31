"""Keep pytest from collecting the attacks: they are data, and
their conftest.py must not be loaded.
"""

collect_ignore_glob = ["*/*"]
