"""Make classes for tests: students' files, downloads in each layout, and gradebooks."""
