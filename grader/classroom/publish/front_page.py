"""What stands in a students' bundle beside the lessons: front pages in both languages, the
workflow.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.classroom.publish.engine_files import TORCH

IGNORED = "__pycache__/\n.venv/\nreport.html\n!/engine/**/report.html\n"
"""What git leaves out: learners' own reports, not the engine's page of that name."""
WORKFLOW = f"""\
# Grades each push. What is wrong stands at its line; the points are in the run's summary.
name: Grade
on:
  push:
  pull_request:
permissions:
  contents: read
jobs:
  grade:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - name: Install
        run: |
          {TORCH}
          pip install ./engine
      - name: Grade
        run: grade run --format github --no-html
"""
ENGLISH = """\
# {title}

Fill in the Python file of each lesson's folder; its README teaches. Then:

```
{torch}
pip install ./engine
grade                # all lessons, or: grade LESSON
grade hint LESSON    # a nudge; --step 2 and 3 say more
```

The checks here are worth {points} points. {held_checks} more checks, worth {held_points} points,
are held back: they run where your work is graded, and `grade` says so each time. Change nothing in
`course/` and `engine/`; your work is graded with other copies of them.
"""
KOREAN = """\
# {title}

각 레슨 폴더의 Python 파일을 완성하세요. 설명은 폴더 안의 README.ko.md에 있습니다. 그런 다음
아래 명령을 실행합니다.

```
{torch}
pip install ./engine
grade --lang ko                # 모든 레슨. 하나만 채점하려면: grade 레슨이름
grade hint 레슨이름 --lang ko  # 작은 힌트. --step 2, 3으로 갈수록 자세해집니다
```

여기에 들어 있는 검사의 배점은 모두 {points}점입니다. 나머지 비공개 검사
{held_checks}개({held_points}점)는 제출한 뒤 채점할 때 실행되며, `grade`를 실행할 때마다 이 사실을
알려 줍니다. `course/`와 `engine/` 폴더는 고치지 마세요. 채점에는 별도의 원본을 사용합니다.
"""


def front_pages(
    title: str, points: tuple[float, float], held_checks: int
) -> Iterator[tuple[str, str]]:
    shown = {
        "title": title,
        "torch": TORCH,
        "points": f"{points[0]:g}",
        "held_points": f"{points[1]:g}",
        "held_checks": held_checks,
    }
    yield "README.md", ENGLISH.format(**shown)
    yield "README.ko.md", KOREAN.format(**shown)
