"""A generator where one text is promised."""


def format_graph(root):
    for d, n in walk(root):
        yield " " * d + n
