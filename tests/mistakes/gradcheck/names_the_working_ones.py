def find_broken(functions, x):
    return {name for name in functions if passes_gradcheck(functions[name], x)}  # noqa: F821
