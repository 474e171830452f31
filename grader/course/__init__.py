"""A course and a submission as files, and the records made of them. No torch."""
