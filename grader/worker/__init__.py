"""What runs in the process that executes a student's code."""
