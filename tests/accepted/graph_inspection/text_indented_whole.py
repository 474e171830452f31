"""The drawing of each input, indented as a whole by textwrap."""

import textwrap


def drawing(node):
    lines = [type(node).__name__]
    lines += [textwrap.indent(drawing(following), " ") for following, _ in node.next_functions if following is not None]
    return "\n".join(lines)


def format_graph(root):
    return drawing(root.grad_fn) if root.grad_fn is not None else ""
