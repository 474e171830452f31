"""Rosters are read whatever program made them; they are matched by ids, then by names, and never
guessed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from grader.classroom.gradebook.people import enrol
from grader.classroom.gradebook.roster import MatchedStudents, Roster, match, read_roster
from grader.classroom.gradebook.store import Gradebook
from grader.classroom.imports.entries import ClassImport, StudentIdentity
from grader.core.errors import UsageError

MIN_KIM = StudentIdentity("Min Kim", {"sid": "S1", "email": "m@x"})


def write_roster(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "class.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp949", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_roster_is_read_in_every_encoding_and_with_every_delimiter(
    tmp_path: Path, encoding: str, delimiter: str
) -> None:
    text = "이름,학번,이메일\n김민준,20261234,min@x.kr\n".replace(",", delimiter)
    roster = read_roster(write_roster(tmp_path, text, encoding))
    assert roster.students == (
        (2, StudentIdentity("김민준", {"sid": "20261234", "email": "min@x.kr"})),
    )


@pytest.mark.parametrize(
    ("text", "student"),
    [
        (
            "Student,ID,SIS User ID,SIS Login ID,Section\n"
            "    Points Possible,,,,\n"
            '"Kim, Min",7,S1,mkim,A\n',
            StudentIdentity(
                "Kim, Min",
                {"canvas_id": "7", "sis_user_id": "S1", "sis_login_id": "mkim"},
                {"section": "A"},
            ),
        ),
        ("First name,Surname,ID number,Email address\nMin,Kim,S1,m@x\n", MIN_KIM),
        ("First Name,Last Name,SID,Email\nMin,Kim,S1,m@x\n", MIN_KIM),
        (
            "identifier,github_username,github_id,name\nS1,mk,7,Min Kim\n",
            StudentIdentity("Min Kim", {"id": "S1", "username": "mk", "github_id": "7"}),
        ),
        (
            "Identifier,Status\nParticipant 31,Submitted for grading\n",
            StudentIdentity("Participant 31", {"moodle_participant": "31"}),
        ),
        ("username\nmkim\n", StudentIdentity("mkim", {"username": "mkim"})),
        ("Name, id \n Min Kim , 12 \n", StudentIdentity("Min Kim", {"id": "12"})),
    ],
    ids=["canvas", "moodle", "gradescope", "github", "hidden names", "logins", "by hand"],
)
def test_headers_of_other_systems_are_known(
    tmp_path: Path, text: str, student: StudentIdentity
) -> None:
    assert [one for _, one in read_roster(write_roster(tmp_path, text)).students] == [student]


def test_a_bad_line_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    text = 'name,sid\nAnn,1\n\n,\nKim, Min,2\n   ,   \n"Two\nlines",3\nBob,4\n,5\n'
    roster = read_roster(write_roster(tmp_path, text))
    assert [line for line, _ in roster.students] == [2, 7, 9, 10]
    assert [one.name for _, one in roster.students] == ["Ann", "Two\nlines", "Bob", "5"]
    assert len(roster.problems) == 1
    assert "class.csv:5:" in roster.problems[0]


def test_what_is_no_roster_is_refused_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    with pytest.raises(UsageError, match="Check its name"):
        read_roster(path)
    for data, said in (
        (b"", "empty"),
        (b"color,shape\nred,round\n", "class.csv:1: no column names the students"),
        (b"name\nAnn\n\xff\xff\xff\n", "class.csv:3 is neither UTF-8 nor CP949"),
        (b'name,sid\nAnn,1\n"Bob,2\n', "class.csv:.*CSV"),
    ):
        path.write_bytes(data)
        with pytest.raises(UsageError, match=said):
            read_roster(path)


# ----------------------------------------------------------------------------------------- matching


def matched(
    roster: list[StudentIdentity], *handed: tuple[str, *tuple[StudentIdentity, ...]]
) -> MatchedStudents:
    return match(enumerate(roster, 2), [(name, tuple(students)) for name, *students in handed])


def test_exact_ids_come_before_names() -> None:
    """The student named Ann has Bo's login."""
    found = matched(
        [StudentIdentity("Ann", {"username": "a"}), StudentIdentity("Bo", {"username": "b"})],
        ("Ann", StudentIdentity("Ann", {"sis_login_id": "B"})),
    )
    assert found.students["Ann"] == (StudentIdentity("Bo", {"username": "b", "sis_login_id": "B"}),)
    assert list(found.unmatched) == [2]


@pytest.mark.parametrize(
    "called", ["Kim Minjun", "minjun kim", "Kim, Minjun", "kimminjun", "KIM  MINJUN", "20261"]
)
def test_a_submission_is_found_by_name_or_by_an_id_for_a_name(called: str) -> None:
    found = matched(
        [StudentIdentity("Minjun Kim", {"sid": "20261"}), StudentIdentity("Other", {})],
        (called, StudentIdentity(called)),
    )
    assert found.students[called] == (StudentIdentity("Minjun Kim", {"sid": "20261"}),)
    assert list(found.unmatched) == [3]


def test_a_submission_that_fits_two_students_is_noted_not_guessed() -> None:
    """Neither is listed as missing: each line says whose submission may be theirs."""
    twins = [StudentIdentity("Kim Min", {"sid": "1"}), StudentIdentity("Min Kim", {"sid": "2"})]
    found = matched(twins, ("kimmin", StudentIdentity("kimmin")))
    assert found.students["kimmin"] == (StudentIdentity("kimmin"),)
    assert "line 2 of the roster or Min Kim on line 3" in found.notes[0]
    assert all(doubt and "kimmin" in doubt for doubt in found.unmatched.values())


def test_whose_id_fits_two_lines_is_one_of_those_two() -> None:
    """A third line has the same name, but not the id. Two lines with the id are told apart by
    name.
    """
    kim, lee = StudentIdentity("Kim", {"sid": "7"}), StudentIdentity("Lee", {"sid": "7"})
    roster = [StudentIdentity("Min"), kim, lee]
    someone = StudentIdentity("Min", {"sid": "7"})
    found = matched(roster, ("min", someone))
    assert (len(found.unmatched), found.students["min"]) == (3, (someone,))
    found = matched(roster, ("kim", kim))
    assert list(found.unmatched) == [2, 4]


def test_two_submissions_under_one_name_are_said() -> None:
    kim = StudentIdentity("Kim Min")
    found = matched([kim], ("a", kim), ("b", StudentIdentity("kim min")))
    assert found.students["a"] == (kim,)
    assert len([note for note in found.notes if "not certain" in note]) == 2


def test_the_ids_of_two_kinds_are_not_taken_for_each_other() -> None:
    """Canvas's 12 is not the student number 12; an id of unknown kind may be either."""
    student = StudentIdentity("X", {"canvas_id": "12"})
    assert matched([StudentIdentity("A", {"sid": "12"})], ("x", student)).unmatched
    assert not matched([StudentIdentity("A", {"id": "12"})], ("x", student)).unmatched


def test_every_member_of_a_team_is_found() -> None:
    found = matched(
        [StudentIdentity("Ann", {"email": "a@x"}), StudentIdentity("Bo", {"email": "b@x"})],
        ("team", StudentIdentity("Bo"), StudentIdentity("A", {"email": "A@x"})),
    )
    assert [one.name for one in found.students["team"]] == ["Bo", "Ann"]
    assert not found.unmatched


def test_two_thousand_are_matched_without_comparing_everybody_with_everybody() -> None:
    """Each name is split once or twice, whatever the size of the class."""
    counted = 0

    class Counted(str):
        __slots__ = ()

        def casefold(self) -> str:
            nonlocal counted
            counted += 1
            return super().casefold()

        def strip(self, chars: str | None = None) -> str:
            return Counted(super().strip(chars))

    roster = [StudentIdentity(f"S {n}", {"sid": Counted(n)}) for n in range(500)]
    matched(roster, *((f"f{n}", StudentIdentity(f"x{n}", {"sid": Counted(n)})) for n in range(500)))
    assert counted <= 500 * 8


def test_who_handed_nothing_in_is_an_entry_until_something_comes(tmp_path: Path) -> None:
    with Gradebook.open(tmp_path, create=True) as book:
        ann, bo = StudentIdentity("Ann", {"sid": "1"}), StudentIdentity("Bo")
        nothing = ClassImport("plain", ())
        enrol(book, nothing, Roster(((2, ann), (3, bo))))
        assert [(entry.name, entry.missing) for entry in book.entries()] == [
            ("Ann", True),
            ("Bo", True),
        ]
        enrol(book, nothing, Roster(((2, StudentIdentity("Ann")),)))
        assert [entry.name for entry in book.entries()] == ["Ann"]
        assert book.names() == set()


def test_sections_extensions_and_times_are_read(tmp_path: Path) -> None:
    text = (
        "name,Section,due,submitted_at\n"
        "Ann,A,+2d,2026-03-01T09:00+09:00\n"
        "Bob,,2026-03-04T00:00Z,-\n"
        'Cal,B,2026-03-04 00:00,"Sunday, 1 March 2026, 9:00 AM"\n'
    )
    roster = read_roster(write_roster(tmp_path, text), ZoneInfo("Europe/Berlin"))
    assert [one.details for _, one in roster.students] == [
        {"section": "A", "due": "+2d", "handed_in": "2026-03-01T00:00:00+00:00"},
        {"due": "2026-03-04T00:00Z"},
        {
            "section": "B",
            "due": "2026-03-04T00:00:00+01:00",
            "handed_in": "2026-03-01T08:00:00+00:00",
        },
    ]


def test_who_is_in_several_sections_is_in_each_of_them(tmp_path: Path) -> None:
    """As Canvas writes it, if each is somebody's whole section; as a list; in a row for each."""
    text = "name,sid,section\n" + "".join(
        f"{name},{sid},{section}\n"
        for name, sid, section in (
            ("Ann", 1, "A"),
            ("Bob", 2, "B"),
            ("Cy", 3, "A and B"),
            ("Di", 4, "Art and Design"),
            ("Ed", 5, "A; C"),
            ("Flo", 6, "A"),
            ("Flo", 6, "B"),
        )
    )
    roster = read_roster(write_roster(tmp_path, text))
    assert {one.name: one.sections for _, one in roster.students} == {
        "Ann": ("A",),
        "Bob": ("B",),
        "Cy": ("A", "B"),
        "Di": ("Art and Design",),
        "Ed": ("A", "C"),
        "Flo": ("A", "B"),
    }
    assert roster.problems == ()


@pytest.mark.parametrize(
    ("cells", "zone", "said"),
    [
        ("+1d,2026-03-01 09:00", None, r"class\.csv:3: '2026-03-01 09:00' has no offset .*--zone"),
        ("2026-03-01 09:00,-", None, r"has no offset from UTC\. Name the time zone of the class"),
        ("tomorrow,-", "Asia/Seoul", r"class\.csv:3: 'tomorrow' is not a time\. .*, or \+2d"),
        (",2026-10-25T02:30", "Europe/Berlin", r"class\.csv:3: .*is twice in Europe/Berlin"),
        (",2026-03-29T02:30", "Europe/Berlin", r"does not exist in Europe/Berlin"),
    ],
)
def test_a_time_that_can_not_be_read_stops_the_run_with_file_and_line(
    cells: str, zone: str | None, said: str, tmp_path: Path
) -> None:
    """Otherwise a penalty or an extension would be lost among warnings."""
    path = write_roster(tmp_path, f"name,due,submitted_at\nAnn,,\nBob,{cells}\n")
    with pytest.raises(UsageError, match=said):
        read_roster(path, ZoneInfo(zone) if zone else None)


WORKSHEETS = {
    "en": (
        "Identifier,Full name,Email address,ID number,Status,Group,Last modified (submission)\n"
        "Participant 31,Ada Ek,a@x.de,7,Submitted for gradingExtension granted until: {0},Crew,{0}",
        '"Thursday, 3 December 2026, 11:59 PM"',
    ),
    "de": (
        "ID,Vollständiger Name,E-Mail-Adresse,ID-Nummer,Status,Gruppe,Zuletzt geändert (Abgabe)\n"
        "Teilnehmer/in31,Ada Ek,a@x.de,7,Zur Bewertung abgegebenVerlängerung bis: {0},Crew,{0}",
        '"Donnerstag, 3. Dezember 2026, 23:59"',
    ),
    "fr": (
        "Identifiant,Nom complet,Adresse de courriel,Numéro d'identification,Statut,Groupe,"
        "Dernière modification (travail remis)\n"
        "Participant31,Ada Ek,a@x.de,7,RemisProlongation accordée jusqu'au : {0},Crew,{0}",
        '"jeudi 3 décembre 2026, 23:59"',
    ),
    "es": (
        "Identificador,Nombre completo,Dirección de correo,Número de ID,Estado,Grupo,"
        "Última modificación (entrega)\n"
        "Participante31,Ada Ek,a@x.de,7,EnviadoExtensión concedida hasta: {0},Crew,{0}",
        '"jueves, 3 de diciembre de 2026, 23:59"',
    ),
    "ko": (
        "식별자,성명,이메일 주소,학번,상태,그룹,마지막 수정됨(제출)\n"
        "참가자31,Ada Ek,a@x.de,7,제출되었습니다.{0} 까지 연장되었습니다.,Crew,{0}",
        '"목요일, 3 12월 2026, 11:59 오후"',
    ),
}


@pytest.mark.parametrize("lang", WORKSHEETS)
def test_a_grading_worksheet_of_moodle_is_a_roster_in_every_language(
    lang: str, tmp_path: Path
) -> None:
    sheet, moment = WORKSHEETS[lang]
    text = re.sub(r"([^,\n]*)\{0\}([^,\n]*),Crew", rf'"\1{moment[1:-1]}\2",Crew', sheet)
    path = write_roster(tmp_path, text.format(moment), "utf-8-sig")
    (found,) = read_roster(path, ZoneInfo("Europe/Berlin")).students
    assert found[1] == StudentIdentity(
        "Ada Ek",
        {"moodle_participant": "31", "email": "a@x.de", "sid": "7"},
        {
            "group": "Crew",
            "due": "2026-12-03T23:59:00+01:00",
            "handed_in": "2026-12-03T22:59:00+00:00",
        },
    )
    with pytest.raises(UsageError, match=r"class\.csv:2: .*--zone"):
        read_roster(path)


def missing_in(folder: Path, roster: Roster) -> list[str]:
    """Return the names of those who handed in nothing, if nobody did."""
    with Gradebook.open(folder, create=True) as book:
        enrol(book, ClassImport("plain", ()), roster)
        return [entry.name for entry in book.entries() if entry.missing]


def test_canvas_s_own_rows_are_nobody_and_its_test_student_never_missing(tmp_path: Path) -> None:
    text = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Week 1 (12)\n"
        ",,,,,Manual Posting\n"
        "    Points Possible,,,,,10\n"
        '"Kim, Min",7,S1,mkim,A,\n'
        '"Student, Test",9,,0af3,A,\n'
    )
    roster = read_roster(write_roster(tmp_path, text))
    assert roster.problems == ()
    assert [(one.name, one.details.get("role")) for _, one in roster.students] == [
        ("Kim, Min", None),
        ("Student, Test", "test"),
    ]
    assert missing_in(tmp_path, roster) == ["Kim, Min"]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("Student,ID,SIS Login ID,Section", "    Mögliche Punkte,,,"),
        ("LastName,FirstName,ID,SIS Login ID,Section", "    Points Possible,,,,"),
        ("Student,ID,Section", "    Points Possible,,"),
    ],
)
def test_the_points_possible_are_nobody(header: str, row: str, tmp_path: Path) -> None:
    assert read_roster(write_roster(tmp_path, f"{header}\n{row}\n")).students == ()


def test_staff_on_gradescope_s_roster_are_never_missing(tmp_path: Path) -> None:
    text = "First Name,Last Name,SID,Email,Role\nAda,Ek,1,a@x,Student\nTea,Cher,,t@x,Instructor\n"
    roster = read_roster(write_roster(tmp_path, text))
    assert missing_in(tmp_path, roster) == ["Ada Ek"]


def test_who_is_listed_once_for_each_group_is_one_student(tmp_path: Path) -> None:
    text = "name,sid,group\nAda,1,A\nBo,2,A\nAda,1,B\nKim,,A\nKim,,A\n"
    students = read_roster(write_roster(tmp_path, text)).students
    assert [(line, one.name, one.details["group"]) for line, one in students] == [
        (2, "Ada", "A; B"),
        (3, "Bo", "A"),
        (5, "Kim", "A"),
        (6, "Kim", "A"),
    ]


@pytest.mark.parametrize(
    ("listed", "handed", "found"),
    [
        # the same name, but another id of the same kind: two people
        ([("Kim", {"sid": "1"})], [("Kim", {"sid": "2"})], []),
        ([("Kim", {"email": "a@x"})], [("Kim", {"email": "b@x"})], []),
        ([("Kim", {"canvas_id": "1"})], [("Kim", {"canvas_id": "2"})], []),
        ([("Kim", {"sid": "7"})], [("Kim", {"sid": "007"})], [2]),
        # Moodle's numbers are others in each assignment
        ([("Kim", {"moodle_participant": "1"})], [("Kim", {"moodle_participant": "2"})], [2]),
        # two on the roster, two in the download, or one of each
        ([("Kim", {"sid": "1"}), ("Kim", {"sid": "2"})], [("Kim", {})], []),
        ([("Kim", {"sid": "1"})], [("Kim", {"canvas_id": "1"}), ("Kim", {"canvas_id": "2"})], []),
        ([("Kim", {"sid": "1"}), ("Kim", {"sid": "2"})], [("Kim", {"sid": "2"})], [3]),
        (
            [("Kim", {"sid": "1"}), ("Kim", {"sid": "2"})],
            [("Kim", {"sid": "2"}), ("Kim", {"sid": "1"})],
            [3, 2],
        ),
        (
            [("Kim", {"moodle_participant": "1"}), ("Kim", {"moodle_participant": "2"})],
            [("Kim", {"moodle_participant": "2"}), ("Kim", {"moodle_participant": "3"})],
            [3],
        ),
    ],
)
def test_two_people_of_one_name_stay_two(
    listed: list[tuple[str, dict[str, str]]],
    handed: list[tuple[str, dict[str, str]]],
    found: list[int],
) -> None:
    """Nobody who may have handed in is listed as having handed in nothing."""
    roster = [StudentIdentity(*one, {"section": str(k)}) for k, one in enumerate(listed, 2)]
    those = [(f"s{k}", StudentIdentity(*one)) for k, one in enumerate(handed)]
    result = matched(roster, *those)
    lines = [one.details.get("section") for (one,) in result.students.values()]
    assert [int(line) for line in lines if line] == found
    if not found:
        assert all(result.unmatched.values())


def test_a_number_that_two_have_is_not_said_to_be_another_name() -> None:
    """Once for each submission."""
    one, other = (StudentIdentity("Kim", {"moodle_participant": "7", "sid": n}) for n in "12")
    kim = StudentIdentity("Kim", {"moodle_participant": "7"})
    found = matched([one, other], ("kim", kim))
    assert len(found.unmatched) == 2
    (note,) = (one for one in found.notes if "on line" in one)
    assert "not certain" in note and "names differ" not in note


def test_who_is_the_only_one_left_of_a_name_is_said() -> None:
    roster = [StudentIdentity("Kim", {"sid": "1"}), StudentIdentity("Kim", {"sid": "2"})]
    numbered = [replace(one, person=number) for number, one in enumerate(roster, 1)]
    found = matched(numbered, ("kim", StudentIdentity("kim")), ("2", StudentIdentity("2")))
    assert [one.ids["sid"] for (one,) in found.students.values()] == ["1", "2"]
    (note,) = found.notes
    assert note.startswith(
        "kim is Kim on line 2 of the roster, because everybody else of this name"
    )


def test_a_second_row_with_the_same_name_and_id_is_said(tmp_path: Path) -> None:
    text = "name,id,email\nAda,1,a@x\nBen,1,b@x\nada,1,c@x\nAda,2,d@x\n"
    (problem,) = read_roster(write_roster(tmp_path, text)).problems
    assert "class.csv:4: ada with the id 1 is on line 2, too" in problem
