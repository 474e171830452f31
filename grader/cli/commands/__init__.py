"""What the commands do, for people; one module for each group of them. Their options are in
``cli``.
"""
