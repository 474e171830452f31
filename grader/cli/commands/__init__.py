"""What the commands do, a module for each group of them. Their options are in ``cli``."""
