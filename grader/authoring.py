"""What a lesson's checks, scenarios and diagnoses import."""
