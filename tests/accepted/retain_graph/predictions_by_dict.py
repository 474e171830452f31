"""Predictions looked up in a list of those that survive."""

FREE_OF_VALUES = ["x + 1", "x.sum()", "-x"]
SURVIVES_SECOND_BACKWARD = {key: key in FREE_OF_VALUES for key in ["x + 1", "x * 2", "x ** 2", "x.exp()", "x.sum()", "-x"]}
