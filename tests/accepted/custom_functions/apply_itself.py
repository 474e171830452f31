"""A bound method is a function already."""

as_callable = lambda function: function.apply  # noqa: E731
