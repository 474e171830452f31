"""``python -m grader``: the same as the command ``grade``."""

from grader.cli import main

if __name__ == "__main__":
    main()
