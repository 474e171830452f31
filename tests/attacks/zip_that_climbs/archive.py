"""A zip with a member that lies beside the place where it is unpacked."""

import zipfile


def make(folder, *, secret):
    path = folder / "submission.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../neighbour/custom_sigmoid.py", "raise ValueError")
    return path
