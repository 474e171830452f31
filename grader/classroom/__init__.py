"""What instructors do: read a class's submissions, grade them, keep a gradebook, export it,
publish.
"""
