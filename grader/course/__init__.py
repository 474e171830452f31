"""Read a course and a submission from files into records. No torch."""
