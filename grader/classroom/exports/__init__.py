"""Write a gradebook in other systems' formats: one module each, pure functions over its records."""
