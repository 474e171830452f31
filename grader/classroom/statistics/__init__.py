"""A class as a whole: counting over ``gradebook.records``, without torch and files."""
