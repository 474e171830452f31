"""Predictions in another order, put together from two groups, with one more than is asked for."""

SURVIVES_SECOND_BACKWARD = dict.fromkeys(("x ** 2", "x.exp()", "x * 2", "x.log()"), False) | dict.fromkeys(["-x", "x.sum()", "x + 1"], True)
