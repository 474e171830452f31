"""A class's submissions are found in every layout, under names that distinguish people."""

from __future__ import annotations

import contextlib
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from factories.downloads import LAYOUTS, Students, encrypted, write_class, zip_folder, zipped

from grader.classroom.imports.discover import find_class
from grader.classroom.imports.entries import ClassImport, StudentIdentity, Submission
from grader.core.errors import SubmissionError, UsageError
from grader.core.i18n import engine_catalogue, languages
from grader.course.beginnings import fresh, untouched_in
from grader.course.course import Course
from grader.course.submission import LessonFile, digest

LESSONS = ("tiny", "small")
FILE = "assignsubmission_file"
CLASS: Students = {
    "alice": {"tiny.py": "a = 1\n", "small.py": "b = 2\n", "notes.txt": "hello"},
    "bob": {"tiny.py": "a = 3\n"},
    "김민준": {"small.py": "b = '기울기'\n"},
    "carol": {"small.py": b"\xff\xfe", "tiny.py": ""},
    "dave": {"homework.txt": "my dog ate it"},
}


def files(root: Path, *paths: str, **texts: str | bytes) -> Path:
    """Write files below a folder; those without a text contain ``x = 1``."""
    for path, data in {**dict.fromkeys(paths, "x = 1\n"), **texts}.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.encode() if isinstance(data, str) else data)
    return root


def archive(path: Path, members: Mapping[str, str | bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in members.items():
            target.writestr(name, data)
    return path


def find(place: Path, layout: str | None = None, **options: Any) -> ClassImport:
    return find_class(place, lessons=LESSONS, layout=layout, **options)


def class_in(root: Path, *paths: str, **texts: str | bytes) -> ClassImport:
    return find(files(root, *paths, **texts))


def read(found: ClassImport) -> dict[str, dict[str, str]]:
    """Return, by submission and lesson, the text, or the problem in brackets. A submission without
    a lesson has only a problem.
    """
    return {
        one.name: {
            lesson: f"[{file.problem}]" if file.problem else file.text
            for lesson, file in files_of(one).items()
        }
        for one in found.handed
    }


def files_of(one: Submission) -> dict[str, LessonFile]:
    try:
        return one.read(LESSONS)
    except SubmissionError as error:
        return {"": LessonFile.wrong("", "", str(error))}


def names(found: ClassImport) -> list[str]:
    return [one.name for one in found.handed]


def passed_over(found: ClassImport) -> dict[str, str]:
    return dict(found.passed_over)


# -------------------------------------------------------------------------------------- all layouts


@pytest.mark.parametrize("form", ["folder", "zip", "wrapped"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_class_reads_the_same_in_every_layout(layout: str, form: str, tmp_path: Path) -> None:
    """Students, files and digests are the same, unpacked or as downloaded, with or without a folder
    around.
    """
    place = write_class(layout, tmp_path / "class", CLASS)
    if form != "folder":
        place = zip_folder(
            place if form == "zip" else tmp_path, tmp_path.parent / f"{tmp_path.name}.zip"
        )
    found = find(place)
    assert found.layout == layout
    assert names(found) == sorted(CLASS)
    plain = find(write_class("plain", tmp_path / "again", CLASS))
    for one, other in zip(found.handed, plain.handed, strict=True):
        if one.name != "dave":
            assert digest(one.read(LESSONS)) == digest(other.read(LESSONS))
    assert read(found)["alice"] == {"tiny": "a = 1\n", "small": "b = 2\n"}
    assert read(found)["dave"][""].startswith("[no lesson file found; expected tiny.py, small.py.")
    assert found.handed[0].read(["tiny"]).keys() == {"tiny"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_may_be_forced(layout: str, tmp_path: Path) -> None:
    place = write_class(layout, tmp_path, CLASS)
    assert find(place, layout).layout == layout


@pytest.mark.parametrize("layout", ["canvas", "moodle", "gradescope"])
def test_a_wrong_layout_is_refused_with_what_it_looks_like(layout: str, tmp_path: Path) -> None:
    place = write_class("github", tmp_path, CLASS)
    with pytest.raises(
        SubmissionError,
        match=f"is not a download from {layout}: nothing .* is named like .*It looks like github",
    ):
        find(place, layout)


def test_a_layout_that_is_none_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError,
        match=r"no layout 'blackboard'\. Choose one of: plain, gradescope, moodle, canvas, github",
    ):
        find(tmp_path, "blackboard")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_is_opened_before_it_is_read(layout: str, tmp_path: Path) -> None:
    """A class is found even if one student's zip is damaged; only that student can't be read."""
    place = write_class(
        layout, tmp_path, {"alice": {"work.zip": b"no zip"}, "bob": {"tiny.py": "fine\n"}}
    )
    alice, bob = find(place).handed
    with pytest.raises(SubmissionError, match=r"work\.zip is not a readable zip: .*Make it again"):
        alice.read(LESSONS)
    assert bob.read(LESSONS)["tiny"].text == "fine\n"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_zip_among_the_files_is_opened(layout: str, tmp_path: Path) -> None:
    inner = {"week/tiny.py": "zipped\n", "week/small.py": "zipped\r\n"}
    work = archive(tmp_path / "inner.zip", inner).read_bytes()
    students: Students = {
        "alice": {"work.zip": work, "tiny.py": "loose\n"},
        "bob": {"work.zip": work, "tiny.py": "zipped\r\n"},
    }
    found = read(find(write_class(layout, tmp_path / "class", students)))
    assert found["bob"] == {"tiny": "zipped\n", "small": "zipped\n"}
    assert found["alice"]["small"] == "zipped\n"
    assert "both be this lesson, and they differ" in found["alice"]["tiny"]


def test_an_empty_zip_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="has no submissions"):
        find(archive(tmp_path / "class.zip", {}))


@pytest.mark.parametrize(
    ("there", "place", "message"),
    [
        ((), "", r"has no submissions\. Name the folder or the zip"),
        ((), "nowhere", "nowhere does not exist"),
        (("class.txt",), "class.txt", r"class\.txt is not a readable zip"),
        # if nothing is left, the error lists what was there
        (("grades.xlsx",), "", r"submissions\. grades\.xlsx is not a folder, a zip or a lesson"),
    ],
)
def test_a_place_without_submissions_is_an_error_with_a_remedy(
    there: tuple[str, ...], place: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(SubmissionError, match=message):
        find(files(tmp_path, *there) / place)


FOUND: list[tuple[str, str, str, dict[str, str]]] = [
    # what systems add is not a student
    ("plain", "alice/tiny.py __MACOSX/x .DS_Store Thumbs.db .git/tiny.py desktop.ini", "alice", {}),
    # one entry of a system's among many of a hand's makes no download
    (
        "plain",
        f"Jane_1_{FILE}/tiny.py alice/tiny.py bob/tiny.py carol/tiny.py",
        f"Jane_1_{FILE} alice bob carol",
        {},
    ),
    # if several lessons are graded, a file has the name of one
    ("plain", "alice.py bob/tiny.py", "bob", {"alice.py": "Name it <student>_<lesson>.py"}),
    (
        "plain",
        "tiny.py alice/tiny.py",
        "alice",
        {"tiny.py": "named after a lesson, so its student is not known"},
    ),
    (
        "plain",
        "alice/tiny.py bob.rar carol.tar.gz dan_tiny.pdf notes.docx tiny.rar small-new.py",
        "alice bob carol dan",
        {
            "notes.docx": "is not a folder, a zip or a lesson file",
            "tiny.rar": "is an archive that is not a zip",
            "small-new.py": "named after a lesson, so its student is not known",
        },
    ),
    (
        "plain",
        "alice/tiny.py out/grades.sqlite",
        "alice",
        {"out": "holds a gradebook, not a submission"},
    ),
    # folders that are no clones are plain; users who begin alike keep their whole names
    ("plain", "hw-ann/tiny.py hw-bob/tiny.py", "hw-ann hw-bob", {}),
    ("plain", "hw/hw-ann/tiny.py hw/hw-bob/tiny.py", "hw-ann hw-bob", {}),
    (
        "github",
        "hw-octo/.git/config hw-octo/tiny.py hw-oscar/.git/config hw-oscar/tiny.py",
        "octo oscar",
        {},
    ),
    # the folder around clones says what the assignment is called
    (
        "github",
        "hw-submissions/hw-ann-lee/x hw-submissions/hw-ann-kim/x hw-submissions/notes.md",
        "ann-kim ann-lee",
        {"notes.md": "not a repository of the assignment: hw-<username>"},
    ),
    (
        "canvas",
        "김민준_5_50_tiny.py o_neil_6_60_my_own_tiny.py müller_7_70_small.py",
        "müller o_neil 김민준",
        {},
    ),
    (
        "canvas",
        "doe_1_text.html roe_LATE_2_link.html poe_3_30_tiny.py",
        "doe poe roe",
        {"doe_1_text.html": "text typed into Canvas", "roe_LATE_2_link.html": "a link, not a file"},
    ),
    (
        "canvas",
        "doe_1_2_tiny.py roe_2_3_tiny.py readme.txt extra/tiny.py",
        "doe roe",
        {"readme.txt": "not named as Canvas", "extra": "not named as Canvas"},
    ),
    (
        "moodle",
        f"A_1_{FILE}/tiny.py A_1_assignsubmission_onlinetext/x A_1_assignsubmission_comments_c.txt"
        " B_2_assignsubmission_onlinetext/x",
        "A B",
        {
            "A_1_assignsubmission_onlinetext": "is text typed into Moodle",
            "B_2_assignsubmission_onlinetext": "is text typed into Moodle",
            "A_1_assignsubmission_comments_c.txt": "is not a file that was handed in (kind: com",
        },
    ),
    # hidden names are the same name in every language
    ("moodle", f"참가자_31_{FILE}/tiny.py 참가자_32_{FILE}/tiny.py", "참가자-31 참가자-32", {}),
]


@pytest.mark.parametrize(("layout", "paths", "students", "reasons"), FOUND)
def test_who_is_found_and_what_is_passed_over(
    layout: str, paths: str, students: str, reasons: dict[str, str], tmp_path: Path
) -> None:
    found = class_in(tmp_path, *paths.split())
    assert (found.layout, names(found)) == (layout, students.split())
    over = passed_over(found)
    assert over.keys() == reasons.keys()
    assert all(reason in over[entry] for entry, reason in reasons.items())


# -------------------------------------------------------------------------------------------- plain


def test_a_student_is_a_folder_a_zip_or_a_file(tmp_path: Path) -> None:
    files(tmp_path, "alice/hw/tiny.py", "carol_tiny.py", "carol-small.py")
    archive(tmp_path / "bob.zip", {"hw/tiny.py": "zipped\n"})
    found = find(tmp_path)
    assert read(found) == {
        "alice": {"tiny": "x = 1\n"},
        "bob": {"tiny": "zipped\n"},
        "carol": {"tiny": "x = 1\n", "small": "x = 1\n"},
    }
    assert found.handed[1].students == (StudentIdentity("bob"),)


def test_where_one_lesson_is_graded_a_file_is_named_after_its_student(tmp_path: Path) -> None:
    found = find_class(files(tmp_path, "alice.py", "bob_tiny.py"), lessons=["tiny"])
    assert [(one.name, [*one.read(["tiny"])]) for one in found.handed] == [
        ("alice", ["tiny"]),
        ("bob", ["tiny"]),
    ]


def test_a_lesson_that_is_not_graded_is_no_student(tmp_path: Path) -> None:
    """This holds for a learner's folder, for files collected by hand, and for a download."""
    own = files(tmp_path / "alice", "tiny/tiny.py", "small/small.py")
    assert names(find(own, graded=["tiny"])) == ["alice"]
    hand = find(files(tmp_path / "class", "alice_small.py", "bob.py"), graded=["tiny"])
    alice, bob = hand.handed
    with pytest.raises(SubmissionError, match=r"expected tiny\.py\. Not graded: alice_small\.py"):
        alice.read(["tiny"])
    assert [*bob.read(["tiny"])] == ["tiny"]
    canvas = files(tmp_path / "canvas", "doe_1_2_small.py")
    assert find(canvas, graded=["tiny"]).passed_over == ()


def test_of_a_folder_a_zip_and_a_file_of_one_student_the_first_counts(tmp_path: Path) -> None:
    files(tmp_path, "alice/tiny.py", "bob-tiny.py")
    for name in ("alice.zip", "bob.zip"):
        archive(tmp_path / name, {"tiny.py": "zipped\n"})
    found = find(tmp_path)
    assert read(found) == {"alice": {"tiny": "x = 1\n"}, "bob": {"tiny": "zipped\n"}}
    said = "is not graded, because {} is there too. Rename or delete one of them"
    assert passed_over(found) == {
        "alice.zip": said.format("alice"),
        "bob-tiny.py": said.format("bob.zip"),
    }


@pytest.mark.parametrize(
    "paths", [("tiny.py", "small.py"), ("tiny/tiny.py", "small/small.py", "README.md")]
)
def test_lessons_side_by_side_are_one_submission(paths: tuple[str, ...], tmp_path: Path) -> None:
    """A learner's own folder is a class with one student."""
    found = class_in(tmp_path / "alice", *paths)
    assert read(found) == {"alice": {"tiny": "x = 1\n", "small": "x = 1\n"}}
    assert found.notes == ("the folder contains lessons, so it is one submission: alice",)


def test_what_lies_beside_one_student_s_lessons_is_that_student_s(tmp_path: Path) -> None:
    found = class_in(tmp_path / "alice", "small.py", "tiny.rar", "photo.jpg")
    assert (names(found), found.passed_over) == (["alice"], ())
    assert "tiny.rar is an archive" in read(found)["alice"]["tiny"]


def test_names_that_differ_in_capitals_only_get_different_files(tmp_path: Path) -> None:
    members = {"alice/tiny.py": "1", "Alice/tiny.py": "2", "alice-2/tiny.py": "3"}
    found = find(archive(tmp_path / "class.zip", members))
    assert sorted(text["tiny"] for text in read(found).values()) == ["1", "2", "3"]
    assert len({name.casefold() for name in names(found)}) == 3


@pytest.mark.parametrize(
    ("around", "students"), [("", ["alice"]), ("class/", ["alice"]), ("class/", ["alice", "bob"])]
)
def test_a_zip_may_have_a_folder_around_its_students(
    around: str, students: list[str], tmp_path: Path
) -> None:
    members = {f"{around}{name}/tiny.py": "1" for name in students}
    found = find(archive(tmp_path / "class.zip", members))
    notes = ("the submissions are in class",) if around else ()
    assert (names(found), found.notes) == (students, notes)


def test_a_student_may_have_folders_beside_a_lesson(tmp_path: Path) -> None:
    members = {"alice/tiny.py": "1", "alice/a/x.txt": "", "alice/b/small.py": "2"}
    found = find(archive(tmp_path / "class.zip", members))
    assert read(found) == {"alice": {"tiny": "1", "small": "2"}}


# ------------------------------------------------------------------------------------------- canvas


def test_canvas_says_who_was_late(tmp_path: Path) -> None:
    late = ("doejane_LATE_11_101_tiny.py", "LATE_anon_aB3_103_tiny.py")
    found = class_in(tmp_path, *late, "roebob_12_102_tiny.py")
    assert {one.name for one in found.handed if one.late} == {"doejane", "anon_aB3"}


def test_canvas_tells_people_by_their_id(tmp_path: Path) -> None:
    """Two people with the same name are two submissions, the same ones in every download."""
    found = class_in(tmp_path, "doejane_11_101_tiny.py", "doejane_7_102_tiny.py")
    assert {one.name: one.students[0].ids for one in found.handed} == {
        "doejane-7": {"canvas_id": "7"},
        "doejane-11": {"canvas_id": "11"},
    }
    assert found.notes == ("several submissions are called doejane: doejane-11, doejane-7",)


def test_canvas_anonymous_students_have_their_anonymous_id(tmp_path: Path) -> None:
    (one,) = class_in(tmp_path, "anon_Zq81x_40_tiny.py").handed
    assert one.students == (StudentIdentity("anon_Zq81x", {"canvas_anonymous_id": "Zq81x"}),)


def test_two_files_of_one_attempt_are_not_ordered_by_their_numbers(tmp_path: Path) -> None:
    """Canvas's zip has no earlier attempts: the files with -1 and -2 are of this one, too."""
    first, other, last = "doe_1_5_tiny.py", "doe_1_9_tiny-1.py", "doe_1_20_tiny-2.py"
    found = class_in(tmp_path, "roe_2_6_tiny-2.py", **{first: "1\n", other: "1\r\n", last: "2\n"})
    differ = f"{last} and {first} may both be this lesson, and they differ, so neither was graded"
    said = read(found)
    assert said["doe"]["tiny"].startswith(f"[{differ}")
    assert said["roe"] == {"tiny": "x = 1\n"}
    (tmp_path / last).write_text("1\n")
    assert read(find(tmp_path))["doe"] == {"tiny": "1\n"}


def test_two_zips_of_one_attempt_are_both_read(tmp_path: Path) -> None:
    archive(tmp_path / "doe_1_5_work.zip", {"tiny.py": "1\n"})
    archive(tmp_path / "doe_1_6_work-1.zip", {"tiny.py": "2\n", "small.py": "2\n"})
    archive(tmp_path / "roe_2_7_part-1.zip", {"tiny.py": "1\n"})
    archive(tmp_path / "roe_2_8_part-2.zip", {"small.py": "2\n"})
    said = read(find(tmp_path))
    assert "doe_1_5_work.zip/tiny.py and doe_1_6_work-1.zip/tiny.py" in said["doe"].pop("tiny")
    assert said == {"doe": {"small": "2\n"}, "roe": {"tiny": "1\n", "small": "2\n"}}


# ------------------------------------------------------------------------------------------- moodle


def test_moodle_in_all_its_forms(tmp_path: Path) -> None:
    """The forms: a folder, one of an older version, files side by side, hidden names, teams."""
    found = class_in(
        tmp_path,
        f"Jane Doe_101_{FILE}/hw/tiny.py",
        f"Bob Roe_102_{FILE}_/tiny.py",
        f"Ann Poe_103_{FILE}_tiny.py",
        f"Ann Poe_103_{FILE}_small.py",
        f"Participant_104_{FILE}/tiny.py",
        f"Team 5_7_{FILE}/tiny.py",
    )
    students = ("Ann Poe", "Bob Roe", "Jane Doe", "Participant 104", "Team 5")
    wanted = {name: {"tiny": "x = 1\n"} for name in students}
    wanted["Ann Poe"]["small"] = "x = 1\n"
    assert read(found) == wanted
    assert found.handed[students.index("Jane Doe")].students[0].ids == {"moodle_participant": "101"}


def test_beside_moodle_s_default_group_all_numbers_are_those_of_groups(tmp_path: Path) -> None:
    found = class_in(tmp_path, f"Default group_{FILE}/tiny.py", f"Team 5_7_{FILE}/tiny.py")
    assert {one.name: one.students[0].ids for one in found.handed} == {
        "Default group": {"moodle_group": "0"},
        "Team 5": {"moodle_group": "7"},
    }


# --------------------------------------------------------------------------------------- gradescope


def gradescope(root: Path, metadata: str | bytes, *paths: str) -> ClassImport:
    return class_in(root, *paths, **{"submission_metadata.yml": metadata})


def test_a_team_has_all_its_students_and_their_ids(tmp_path: Path) -> None:
    metadata = (
        "submission_9:\n"
        "  :submitters:\n"
        "  - :name: Jane Doe\n"
        "    :sid: 00123\n"
        "    :email: jane@x.edu\n"
        "  - :name: 'Bob Roe'\n"
        "    :sid: '7'\n"
    )
    (one,) = gradescope(tmp_path, metadata, "submission_9/tiny.py").handed
    assert one.name == "Jane Doe + Bob Roe"
    assert one.students[0] == StudentIdentity(
        "Jane Doe", {"sid": "00123", "email": "jane@x.edu", "gradescope_submission": "9"}
    )
    assert one.students[1].ids["sid"] == "7"


def test_a_person_in_two_submissions_is_said(tmp_path: Path) -> None:
    jane = "  :submitters:\n  - :name: Jane\n    :email: jane@x.edu\n"
    metadata = f"submission_1:\n{jane}submission_2:\n{jane}"
    found = gradescope(tmp_path, metadata, "submission_1/tiny.py", "submission_2/tiny.py")
    assert names(found) == ["Jane-1", "Jane-2"]
    said = "Jane (jane@x.edu) is in several submissions: Jane-1, Jane-2. All are graded"
    assert said in found.notes


def test_yaml_tags_create_no_objects(tmp_path: Path) -> None:
    """Tags of Ruby and of Python are ignored."""
    metadata = (
        "--- !ruby/hash:ActiveSupport::HashWithIndifferentAccess\n"
        "submission_1: !ruby/object:X\n"
        "  :submitters:\n"
        "  - :name: !!python/object/apply:os.getcwd []\n"
        "    :sid: !!python/name:os.system s1\n"
    )
    (one,) = gradescope(tmp_path, metadata, "submission_1/tiny.py").handed
    assert one.students == (StudentIdentity("s1", {"sid": "s1", "gradescope_submission": "1"}),)


def test_what_the_metadata_and_the_folders_do_not_share_is_said(tmp_path: Path) -> None:
    metadata = "".join(
        f"submission_{number}:\n  :submitters:\n  - :name: {name}\n"
        for number, name in ((1, "Jane"), (2, "Bob"))
    )
    paths = ("submission_1/tiny.py", "submission_3/tiny.py", "extra.pdf")
    found = gradescope(tmp_path, metadata, *paths)
    assert names(found) == ["Jane", "submission_3"]
    assert "(Bob), but its folder is missing" in passed_over(found)["submission_2"]
    assert "is not named as in Gradescope's export" in passed_over(found)["extra.pdf"]
    assert any("submission_3 has no submitter" in note for note in found.notes)


def test_without_metadata_folders_stand_for_names(tmp_path: Path) -> None:
    found = class_in(tmp_path, "submission_1/tiny.py", "submission_2/tiny.py")
    assert (found.layout, names(found)) == ("gradescope", ["submission_1", "submission_2"])


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ("a: b\n  c: [", r"submission_metadata\.yml:2 is not YAML"),
        (b"\xff\xfe\x00\xd8", "is not YAML"),
        ("- a\n- b\n", "has no submissions"),
        ("", "has no submissions"),
        ("[" * 200_000, "nested more than 30 deep"),
        ("- " * 100_000, "nested more than 30 deep"),
    ],
)
def test_metadata_that_can_not_be_read_is_an_error_with_its_line(
    metadata: str | bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(SubmissionError, match=message + ".*Export the assignment again"):
        gradescope(tmp_path, metadata, "submission_1/tiny.py")


def test_a_submission_without_submitters_is_named_after_its_folder(tmp_path: Path) -> None:
    listed = [f":submitters: {submitters}" for submitters in ("", "[]", "[1, {}]", "x")]
    for none in ("", "[]", *listed):
        found = gradescope(tmp_path, f"submission_1:\n  {none}\n", "submission_1/tiny.py")
        assert names(found) == ["submission_1"], none


# ------------------------------------------------------------------------------------------- github


def test_clones_side_by_side_are_recognised(tmp_path: Path) -> None:
    """Their common prefix is the assignment's name."""
    users = ("octo", "ann-lee")
    paths = [f"week-1-{user}/{file}" for user in users for file in (".git/config", "tiny.py")]
    found = class_in(tmp_path, *paths)
    assert found.layout == "github"
    assert {one.name: one.students[0].ids for one in found.handed} == {
        user: {"username": user} for user in users
    }


def test_a_zip_of_the_folder_s_own_name_is_that_folder(tmp_path: Path) -> None:
    place = tmp_path / "hw-submissions"
    found = class_in(place, "hw-submissions/hw-octo/tiny.py", "hw-submissions/hw-bo/tiny.py")
    assert names(found) == ["bo", "octo"]


def test_what_lies_in_a_repository_s_own_folder_is_no_lesson(tmp_path: Path) -> None:
    found = class_in(
        tmp_path / "hw-submissions",
        "hw-octo/.git/tiny.py",
        "hw-octo/.git/hooks/small.py",
        "hw-bo/tiny.py",
    )
    assert read(found) == {"octo": {}, "bo": {"tiny": "x = 1\n"}}


# --------------------------------------------------------------------------------------- hard cases


@pytest.mark.posix
def test_links_among_the_students_are_not_followed(tmp_path: Path) -> None:
    files(tmp_path / "elsewhere", "tiny.py")
    place = files(tmp_path / "class", "alice/tiny.py")
    (place / "bob").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (place / "carol").symlink_to("alice", target_is_directory=True)
    (place / "dave").symlink_to("nowhere")
    found = find(place)
    assert names(found) == ["alice"]
    assert passed_over(found).keys() == {"bob", "carol", "dave"}
    assert all("links are not followed" in reason for _, reason in found.passed_over)


@pytest.mark.posix
def test_a_link_to_another_student_s_file_is_not_read(tmp_path: Path) -> None:
    place = files(tmp_path, "alice/tiny.py", "bob/small.py")
    (place / "bob" / "tiny.py").symlink_to("../alice/tiny.py")
    assert "can't be read" in read(find(place))["bob"]["tiny"]


@pytest.mark.posix
def test_the_class_may_be_reached_through_a_link(tmp_path: Path) -> None:
    files(tmp_path / "real", "alice/tiny.py")
    (tmp_path / "link").symlink_to("real", target_is_directory=True)
    assert names(find(tmp_path / "link")) == ["alice"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_neither_a_folder_nor_a_file_is_passed_over(tmp_path: Path) -> None:
    os.mkfifo(files(tmp_path, "alice/tiny.py") / "pipe")
    assert passed_over(find(tmp_path)) == {"pipe": "is neither a folder nor a file"}


def test_paths_that_lead_out_of_a_zip_are_passed_over(tmp_path: Path) -> None:
    outside = ("../bob/tiny.py", "carol/../../tiny.py")
    members = dict.fromkeys(("alice/tiny.py", *outside, "/dave/tiny.py"), "1")
    found = find(archive(tmp_path / "class.zip", members))
    assert read(found) == {"alice": {"tiny": "1"}, "dave": {"tiny": "1"}}
    assert [name for name, _ in found.passed_over] == [*outside]
    assert all("leads out of the zip" in reason for _, reason in found.passed_over)


@pytest.mark.skipif(os.name != "posix", reason="elsewhere no file is called so")
def test_names_with_newlines_and_controls_are_told_on_one_line(tmp_path: Path) -> None:
    found = class_in(tmp_path, "al\nice\x1b[31m/tiny.py", "no\n\u202ething.txt", "bob/a\nb/tiny.py")
    assert names(found) == ["al ice [31m", "bob"]
    assert passed_over(found).keys() == {"no\\n\\u202ething.txt"}
    assert found.handed[1].read(LESSONS)["tiny"].path == "a\\nb/tiny.py"


@pytest.mark.skipif(os.name != "posix", reason="elsewhere names are text")
def test_names_that_are_no_text_are_readable(tmp_path: Path) -> None:
    found = class_in(tmp_path, os.fsdecode(b"al\xffice") + "/tiny.py", os.fsdecode(b"\xfe.txt"))
    assert names(found) == ["al\N{REPLACEMENT CHARACTER}ice"]
    for name, _ in found.passed_over:
        name.encode()


NEAR_NAMES = (
    *("Tiny.py", "tiny (1).py", "tiny copy 2.PY", "Copy of tiny.py"),
    *("tiny - Copy.py", "tiny - 복사본.ipynb", "work/TINY.py"),
)


@pytest.mark.parametrize("name", NEAR_NAMES)
def test_a_name_that_is_almost_a_lessons_is_told_beside_what_it_should_be(
    name: str, tmp_path: Path
) -> None:
    """The file is not graded; the other lessons are."""
    place = files(tmp_path, f"alice/{name}", "alice/small.py", "bob/tiny.py", f"bob/{name}")
    alice, bob = (one.read(LESSONS) for one in find(place).handed)
    right = f"tiny{Path(name).suffix.lower()}"
    said = f"{name} is not called {right}, so it was not graded. Hand it in under that name"
    assert alice["tiny"].problem == said
    assert alice["tiny"].ignored
    assert alice["small"].problem is None
    assert bob["tiny"].problem is None


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("accept", [False, True])
def test_a_near_name_is_treated_alike_in_every_layout(
    layout: str, accept: bool, tmp_path: Path
) -> None:
    students: Students = {
        "alice": {"Tiny (1).py": "a = 1\n", "small.py": "b = 2\n"},
        "bob": {"tiny.py": "a = 3\n", "small.py": "b = 4\n"},
    }
    place = write_class(layout, tmp_path, students)
    found = find(place, accept_near_names=accept)
    read = {one.students[0].name.split()[0].lower(): one.read(LESSONS) for one in found.handed}
    alice, bob = read["alice"]["tiny"], read["bob"]["tiny"]
    assert (alice.ignored, alice.meant) == (not accept, "tiny.py")
    assert alice.text == ("a = 1\n" if accept else "")
    assert (bob.meant, bob.text) == ("", "a = 3\n")


@pytest.mark.parametrize("accept", [False, True])
def test_two_near_names_of_one_lesson_are_not_guessed_between(accept: bool, tmp_path: Path) -> None:
    texts = {"alice/Tiny.py": "x = 2\n", "bob/Tiny.py": "x = 1\n"}
    place = files(tmp_path, "alice/tiny (1).py", "alice/small.py", "bob/tiny (1).py", **texts)
    alice, bob = (one.read(LESSONS)["tiny"] for one in find(place, accept_near_names=accept).handed)
    assert (alice.ignored, bob.ignored) == (True, not accept)
    assert alice.problem is not None
    assert "Tiny.py" in alice.problem
    assert "tiny (1).py" in alice.problem


def test_a_near_name_with_the_students_name_before_it(tmp_path: Path) -> None:
    place = files(tmp_path, "alice_tiny (1).py", "bob_Tiny.py", "carol_tiny.py", "dan_small.py")
    found = find(place, accept_near_names=True)
    meant = [file.meant for one in found.handed for file in one.read(LESSONS).values()]
    assert names(found) == ["alice", "bob", "carol", "dan"]
    assert meant == ["tiny.py", "tiny.py", "", ""]
    assert not found.passed_over


NOT_GRADED = {
    # a name that contains the lesson's, or almost
    "20261234_tiny.py": "is not called tiny.py",
    "kim_tiny.py": "is not called tiny.py",
    "kimtiny_tiny.ipynb": "is not called tiny.ipynb",
    "tiny.py.txt": "is not called tiny.py",
    "tiny.txt": "is not called tiny.py",
    "ti-ny.py": "is not called tiny.py",
    "TINY.PY": "is not called tiny.py",
    "tiny final v2.py": "is not called tiny.py",
    "tiny(1)2.py": "is not called tiny.py",
    "tiny": "is not called tiny.py",
    # what can't be read
    "tiny.rar": "is an archive that is not a zip",
    "kim_tiny.tar.gz": "is an archive that is not a zip",
    "work.7z": "is an archive that is not a zip",
    "work.zip": "is not a readable zip",
    "tiny.docx": "can't be read as Python",
    "tiny photo.JPG": "can't be read as Python",
    # another name
    "tinyer.py": "does not have the name of a lesson",
    "copy.py": "does not have the name of a lesson",
    "tiny_small.py": "does not have the name of a lesson",
}


@pytest.mark.parametrize("layout", [*LAYOUTS, "moodle, flat"])
def test_what_may_be_an_answer_is_never_a_zero(layout: str, tmp_path: Path) -> None:
    """Beside a lesson that is graded, each is said with its path and the reason, and is not graded,
    so that there is no total.
    """
    students: Students = {
        f"s{number:02}": {name: "no zip, but a = 1\n", "small.py": "b = 2\n"}
        for number, name in enumerate(NOT_GRADED)
    }
    place = write_class(layout.removesuffix(", flat"), tmp_path / "class", students)
    if layout == "moodle, flat":
        for path in [path for path in place.rglob("*") if path.is_file()]:
            path.rename(place / f"{path.parent.name}_{path.name}")
            with contextlib.suppress(OSError):
                path.parent.rmdir()
    found = [one.read(LESSONS) for one in find(place).handed]
    for (name, reason), read in zip(NOT_GRADED.items(), found, strict=True):
        tiny = read["tiny"]
        assert read["small"].text == "b = 2\n"
        assert (tiny.ignored, tiny.path.endswith(name)) == (True, True), name
        assert tiny.problem is not None
        assert reason in tiny.problem
        assert name in tiny.problem


@pytest.mark.parametrize("name", ["tiny.pyc", "test_tiny.py", "conftest.py", ".tiny.py", "README"])
def test_files_that_belong_to_code_are_nobodys_lesson(name: str, tmp_path: Path) -> None:
    alice, _ = class_in(tmp_path, f"alice/{name}", "alice/small.py", "bob/tiny.py").handed
    assert alice.read(LESSONS).keys() == {"small"}
    assert alice.read(LESSONS)["small"].beside == ()


def test_a_file_that_can_not_be_opened_is_not_graded(tmp_path: Path) -> None:
    packed = encrypted(zipped({"tiny.py": "x = 1\n", "small.py": "x = 1\n"}), "tiny.py")
    (files(tmp_path, "bob/tiny.py") / "alice.zip").write_bytes(packed)
    alice = find(tmp_path).handed[0].read(LESSONS)
    assert (alice["tiny"].ignored, alice["small"].problem) == (True, None)
    assert "neither damaged nor encrypted" in (alice["tiny"].problem or "")


def test_documents_and_pictures_are_beside_the_first_lesson_that_is_missing(tmp_path: Path) -> None:
    """They can't be a right answer, so the lesson is missing; but they are said."""
    paths = ("photo.jpg", "deep/notes.txt", "small.py")
    place = files(tmp_path, *(f"{name}/{path}" for name in ("alice", "bob") for path in paths))
    files(place, "bob/tiny.py")
    alice, bob = (one.read(LESSONS) for one in find(place).handed)
    assert alice["tiny"].path == ""
    assert alice["tiny"].beside == ("photo.jpg", "deep/notes.txt")
    assert alice["tiny"].problem == ("there is no tiny.py. Not graded: photo.jpg, deep/notes.txt")
    assert (bob["tiny"].beside, bob["tiny"].problem) == (("photo.jpg", "deep/notes.txt"), None)
    assert bob["small"].beside == ()


def test_another_lesson_s_file_is_not_the_missing_one(tmp_path: Path) -> None:
    place = files(tmp_path, "alice/small.py", "alice/tiny_large.py", "bob/tiny.py")
    course = ("tiny", "small", "tiny_large")
    found = find_class(place, lessons=course, graded=["tiny", "small"], accept_near_names=True)
    tiny = found.handed[0].read(LESSONS)["tiny"]
    assert (tiny.path, tiny.beside) == ("", ("tiny_large.py",))


@pytest.mark.parametrize("lang", [*languages(), ""])
@pytest.mark.parametrize("name", ["tiny.py", "tiny.ipynb"])
def test_an_untouched_stub_of_a_lesson_that_is_not_assigned_is_ignored(
    lang: str, name: str, tmp_path: Path, small_course: Course
) -> None:
    """As ``grade init`` writes it, or as the course has it; a changed one is listed."""
    lesson = small_course.lesson("tiny")
    stub = fresh(lesson, Path(name), engine_catalogue(lang)) if lang else lesson.stub_text
    stub = stub.replace("\n", "\r\n") if lang == "ko" else stub
    texts = {f"{who}/tiny/{name}": stub for who in ("alice", "bob")}
    texts |= {f"carol/tiny/{name}": f"{stub}\n", f"dan/{name}": stub}
    place = files(tmp_path, "alice/small.py", "carol/small.py", **texts)
    untouched = untouched_in([lesson])
    found = find(place, graded=["small"], untouched=untouched).handed
    alice, bob, carol, dan = (one.read(["small"]) for one in found)
    assert (alice["small"].beside, bob, dan) == ((), {}, {})
    assert carol["small"].beside == (f"tiny/{name}",)


@pytest.mark.parametrize("accept", [False, True])
def test_the_lesson_s_own_name_comes_before_others_which_are_said(
    accept: bool, tmp_path: Path
) -> None:
    texts = {"alice/tiny_old.py": "x = 2\n", "alice/tiny.pdf": "%PDF"}
    place = files(tmp_path, "alice/tiny.py", "alice/kim_tiny.py", "bob/tiny.py", **texts)
    tiny = find(place, accept_near_names=accept).handed[0].read(LESSONS)["tiny"]
    assert (tiny.text, tiny.problem, tiny.meant) == ("x = 1\n", None, "")
    assert tiny.others == ("tiny.pdf", "tiny_old.py")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_two_files_of_one_lesson_are_not_guessed_between(layout: str, tmp_path: Path) -> None:
    """However deep they are. Equal ones are one; the other lessons are graded."""
    twice = {"tiny-1.py" if layout == "canvas" else "week5/tiny.py": "x = 2\n"}
    students: Students = {
        "alice": {"tiny.py": "x = 1\n", "small.py": "b = 2\n", **twice},
        "bob": {"tiny.py": "x = 2\n", "small.py": "b = 2\n", **twice},
    }
    alice, bob = (one.read(LESSONS) for one in find(write_class(layout, tmp_path, students)).handed)
    assert alice["tiny"].ignored
    assert alice["tiny"].problem is not None
    assert "may both be this lesson, and they differ" in alice["tiny"].problem
    assert len(alice["tiny"].others) == 1
    assert [one.text for one in (alice["small"], bob["tiny"])] == ["b = 2\n", "x = 2\n"]
    assert bob["tiny"].others == ()


def test_a_handout_s_stubs_are_not_the_student_s_files(tmp_path: Path) -> None:
    place = files(
        tmp_path / "hw-submissions",
        "hw-octo/course/exercises/release.toml",
        "hw-octo/course/exercises/tiny/hints.pdf",
        "hw-octo/engine/grader/tiny.py",
        "hw-bo/course/tiny.py",
        **{"hw-octo/course/exercises/tiny/tiny.py": "stub\n", "hw-octo/tiny/tiny.py": "mine\n"},
    )
    octo = next(one for one in find(place).handed if one.name == "octo")
    (tiny,) = octo.read(["tiny"]).values()
    assert (tiny.text, tiny.others, tiny.beside) == ("mine\n", (), ())
    assert read(find(place))["bo"] == {"tiny": "x = 1\n"}


def test_a_folder_that_can_not_be_entered_is_that_students_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class that can't be entered is an error."""
    place = files(tmp_path, "alice/tiny.py", "bob/tiny.py")
    closed, whole = "bob", os.scandir

    def refusing(path: str) -> Any:
        if str(path).endswith(closed):
            raise PermissionError(13, "Permission denied", str(path))
        return whole(path)

    monkeypatch.setattr(os, "scandir", refusing)
    alice, bob = find(place).handed
    assert alice.read(LESSONS)["tiny"].problem is None
    said = r"can't be read: Permission denied\. Check its permissions"
    with pytest.raises(SubmissionError, match=f"bob {said}"):
        bob.read(LESSONS)
    closed = place.name
    with pytest.raises(SubmissionError, match=said):
        find(place)


def test_the_names_are_the_same_whenever_the_class_is_read(tmp_path: Path) -> None:
    """They do not depend on the order in which a system lists files."""
    members = {f"Kim_{number}_{FILE}/tiny.py": "1" for number in (9, 80, 700)}
    forth = find(archive(tmp_path / "a.zip", members))
    back = find(archive(tmp_path / "b.zip", dict(reversed(members.items()))))
    assert [(one.name, one.students) for one in forth.handed] == [
        (one.name, one.students) for one in back.handed
    ]
