"""Makes the lesson's file a link to a file that is not the student's."""


def make(folder, *, secret):
    (folder / "custom_sigmoid.py").symlink_to(secret)
