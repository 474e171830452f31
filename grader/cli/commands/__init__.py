"""The implementation of the commands, a module for each group. Their options are in ``cli``."""
