"""What instructors do: read, grade, keep, export and publish for a class."""
