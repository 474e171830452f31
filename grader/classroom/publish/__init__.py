"""What leaves the house: the students' bundle, and the engine with a course for another system's
container.
"""
