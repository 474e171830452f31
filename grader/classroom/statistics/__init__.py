"""Statistics of a class, from ``gradebook.records``, without torch and files."""
