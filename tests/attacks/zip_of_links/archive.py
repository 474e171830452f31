"""Hands in a zip that contains a symbolic link to the secret."""

import stat
import zipfile


def make(folder, *, secret):
    path = folder / "submission.zip"
    link = zipfile.ZipInfo("custom_sigmoid.py")
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link, str(secret))
    return path
