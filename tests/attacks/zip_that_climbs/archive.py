"""Hands in a zip with a member whose path leads out of the folder."""

import zipfile


def make(folder, *, secret):
    path = folder / "submission.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../neighbour/custom_sigmoid.py", "raise ValueError")
    return path
