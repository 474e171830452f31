"""What decides: checks, the remote student, outcomes, diagnosis, replay."""
