"""sigmoid is Sigmoid.apply, as a name."""

sigmoid = Sigmoid.apply  # noqa: F821
