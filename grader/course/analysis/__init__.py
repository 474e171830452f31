"""Static analysis of a student's file. The file is never executed here."""
