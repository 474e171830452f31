"""The processes: fork server, lesson server, workers; and grading one submission with them."""
