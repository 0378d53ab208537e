"""The rows of the wire log."""

import pytest

from colonizer_client.mothership.recorder import Passage
from colonizer_tui.present import passages
from colonizer_tui.present.line import text_of, width_of
from moments import NOW

ANSWER = Passage(
    number=1,
    at=NOW,
    method="POST",
    path="/api/sessions/5e6f7a8b/answer",
    outcome="409",
    is_fault=True,
    duration_s=0.02,
    heard='{\n  "error": "a different question is open now"\n}',
)
UNREACHED = Passage(number=2, at=NOW, method="GET", path="/api/version", outcome="no route to host", is_fault=True)


@pytest.mark.parametrize(("passage", "why"), [(ANSWER, "a different question is open now"), (UNREACHED, "no route")])
def test_a_row_says_why_it_came_to_nothing(passage: Passage, why: str) -> None:
    assert why in text_of(passages.row(passage, 130))


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_path_that_is_cut_keeps_both_its_ends(width: int) -> None:
    path = f"/api/sessions/{'5e' * 60}/answer"
    shown = passages.row(Passage(number=1, at=NOW, method="GET", path=path, outcome="200"), width)
    assert "/api" in text_of(shown)
    assert "/answer" in text_of(shown) or width == 60
    assert width_of(shown) <= width
