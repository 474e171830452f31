"""The lesson's file is a link to one that is not the student's."""


def make(folder, *, secret):
    (folder / "custom_sigmoid.py").symlink_to(secret)
