"""Static analysis of a student's file, which is never executed here."""
