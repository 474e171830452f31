"""Prints the text that it returns."""


def format_graph(root):
    text = "\n".join(" " * depth + name for depth, name in walk(root))
    print(text)
    return text
