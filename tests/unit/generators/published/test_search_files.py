"""Question files: every layout in use is read, and a wrong record is named."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.generators.published.search_files import CorpusQuestion, read_questions
from rlvr_envs.verifiers.retrieval import exact

HOTPOT = {
    "_id": "5a7a",
    "question": "Were Anna Vell and Ben Orr of the same town?",
    "answer": "yes",
    "type": "comparison",
    "level": "hard",
    "supporting_facts": {"title": ["Anna Vell", "Ben Orr"], "sent_id": [0, 1]},
    "context": {"title": ["Anna Vell"], "sentences": [["Anna Vell was born."]]},
}
TWO_WIKI = {
    "_id": "8813",
    "type": "compositional",
    "question": "Who taught the painter of Songs of Velburg?",
    "answer": "Anna Vell",
    "answer_id": "Q7",
    "evidences": [["Songs of Velburg", "painter", "Ben Orr"]],
}
NQ_OPEN = {"question": "when was velburg founded", "answer": ["1812", "in 1812"]}
SEARCH_R1 = {
    "id": "test_0",
    "question": "who founded velburg",
    "golden_answers": ["Anna Vell", "Nan"],
    "metadata": {
        "type": "bridge",
        "level": "easy",
        "supporting_facts": {"title": ["Velburg"], "sent_id": [2]},
    },
}
TRIVIA = {
    "question_id": "tc_1",
    "question": "Who wrote Songs of Velburg?",
    "answer": {"value": "Ben Orr", "aliases": ["B. Orr", "Ben Orr"], "normalized_value": "ben orr"},
}
MUSIQUE = {
    "id": "2hop__1_2",
    "question": "Who is the mayor of the town of Anna Vell?",
    "answer": "Ben Orr",
    "answer_aliases": ["Benjamin Orr", ""],
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Anna Vell", "paragraph_text": "x", "is_supporting": True},
        {"idx": 1, "title": "Songs", "paragraph_text": "y", "is_supporting": False},
        {"idx": 2, "title": "Velburg", "paragraph_text": "z", "is_supporting": True},
    ],
}
SQUAD = {"id": 12, "question": "Where?", "answers": {"text": ["Velburg"], "answer_start": [3]}}
OWN = {"question": "How many?", "answer": 7, "aliases": ["seven"]}
LAYOUTS = [
    (HOTPOT, ("5a7a", ("yes",), "comparison", "hard", ("Anna Vell", "Ben Orr"))),
    (TWO_WIKI, ("8813", ("Anna Vell",), "compositional", "", ())),
    (NQ_OPEN, ("1", ("1812", "in 1812"), "", "", ())),
    (SEARCH_R1, ("test_0", ("Anna Vell", "Nan"), "bridge", "easy", ("Velburg",))),
    (TRIVIA, ("tc_1", ("Ben Orr", "B. Orr"), "", "", ())),
    (MUSIQUE, ("2hop__1_2", ("Ben Orr", "Benjamin Orr"), "", "", ("Anna Vell", "Velburg"))),
    (SQUAD, ("12", ("Velburg",), "", "", ())),
    ({**OWN, "titles": ["Velburg", " "]}, ("1", ("7", "seven"), "", "", ("Velburg",))),
]


def write(path: Path, records: list[Any], indent: int | None = None) -> Path:
    if path.suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.Table.from_pylist(records), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(records, indent=indent), encoding="utf-8")
    else:
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".parquet"])
@pytest.mark.parametrize(("record", "expected"), LAYOUTS)
def test_layouts(
    tmp_path: Path, suffix: str, record: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    (question,) = read_questions(write(tmp_path / f"q{suffix}", [record]))
    identity, answers, *labels = expected
    assert question == CorpusQuestion(identity, record["question"], answers, *labels)
    assert exact(answers[-1], question.answers).score == 1.0


@pytest.mark.parametrize(
    ("facts", "titles"),
    [
        ({"supporting_facts": [["Velburg", 0], ["Anna Vell", 1], ["Velburg", 2]]}, 2),
        ({"supporting_facts": ["Velburg", "Anna Vell"]}, 2),
        ({"supporting_facts": [[], [3, 4], {"title": "x"}]}, 0),
        ({"supporting_facts": "Velburg"}, 0),
        ({"titles": "Velburg"}, 0),
        ({"titles": ["Velburg", None, "x" * 301, "Anna Vell"]}, 2),
        ({"paragraphs": [3, {"is_supporting": True}, {"title": "x", "is_supporting": 1}]}, 0),
    ],
)
def test_titles_of_the_evidence_are_read_where_they_are_known(
    tmp_path: Path, facts: dict[str, Any], titles: int
) -> None:
    (question,) = read_questions(write(tmp_path / "q.jsonl", [{**OWN, **facts}]))
    assert question.titles == ("Velburg", "Anna Vell")[:titles]


def test_forms_that_no_call_can_hold_are_left_out(tmp_path: Path) -> None:
    forms = ["a </answer> b", "<think>a", "y" * 4_001, "1 < 2", "x</tool_call>", "<b>bold</b>"]
    (question,) = read_questions(write(tmp_path / "q.jsonl", [{**OWN, "answers": forms}]))
    assert question.answers == ("7", "1 < 2", "<b>bold</b>", "seven")


def test_wrong_records_can_be_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", [NQ_OPEN, {"question": "x"}, {**HOTPOT}, HOTPOT, ["x"]])
    questions = read_questions(path, skip_faults=True)
    assert [question.id for question in questions] == ["1", "5a7a"]
    alone = write(tmp_path / "r.jsonl", [{"question": "x"}])
    with pytest.raises(ConfigError, match="no answer"):
        read_questions(alone, skip_faults=True)


def test_order_is_kept_and_numbers_stand_in_for_ids(tmp_path: Path) -> None:
    odd = [{**NQ_OPEN, "id": empty} for empty in ("", None, True)]
    path = write(tmp_path / "q.jsonl", [HOTPOT, NQ_OPEN, TRIVIA, *odd])
    assert [question.id for question in read_questions(path)] == ["5a7a", "2", "tc_1", *"456"]


def test_objects_one_after_another_in_a_json_file(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text(f"\ufeff{json.dumps(HOTPOT, indent=1)}\n{json.dumps(TRIVIA)}\n", "utf-8")
    assert [question.id for question in read_questions(path)] == ["5a7a", "tc_1"]


def test_aliases_of_2wiki_are_accepted(tmp_path: Path) -> None:
    lines = [
        {"Q_id": "Q7", "aliases": ["Nan", "Anna Vell"], "demonyms": []},
        {"Q_id": "Q8", "aliases": ["Velburgh"], "demonyms": ["Velburger"]},
    ]
    aliases = tmp_path / "id_aliases.json"
    aliases.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    path = write(tmp_path / "q.json", [TWO_WIKI, {**HOTPOT, "answer_id": None}])
    answers = [question.answers for question in read_questions(path, aliases)]
    assert answers == [("Anna Vell", "Nan"), ("yes",)]
    demonyms = write(tmp_path / "r.json", [{**TWO_WIKI, "answer_id": "Q8"}])
    assert read_questions(demonyms, aliases)[0].answers == ("Anna Vell", "Velburgh", "Velburger")
    aliases.write_text('{"aliases": []}', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"id_aliases\.json:1: 'Q_id'"):
        read_questions(path, aliases)


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ({"answer": "x"}, "'question' should be a text, got None"),
        ({"question": "  ", "answer": "x"}, "'question' should be a text"),
        ({"question": "x" * 10_001, "answer": "x"}, "longer than 10,000"),
        ({"question": "x"}, "no answer that holds a word"),
        ({"question": "x", "answer": "?!"}, "no answer that holds a word"),
        ({"question": "x", "answer": []}, "no answer that holds a word"),
        ({"question": "x", "golden_answers": ["y" * 10_001]}, "no answer that holds a word"),
        ({"question": "x", "answer": 1.5}, "'answer' should hold texts or whole numbers, got 1.5"),
        ({"question": "x", "answer": True}, "got True"),
        ({"question": "x", "answers": [["y"]]}, "'answers' should hold"),
        ({"question": "x", "answer": "y", "aliases": {"value": 0.5}}, "'aliases' should hold"),
        (["x"], "expected a JSON object"),
        ({**MUSIQUE, "answerable": False}, "the file says that the question has no answer"),
        ({"question": "x", "answer": "</answer>y"}, "no answer that holds a word"),
        (HOTPOT, "its id '5a7a' is that of"),
    ],
)
def test_a_wrong_record_is_named(tmp_path: Path, record: Any, why: str) -> None:
    lines = write(tmp_path / "q.jsonl", [HOTPOT, TRIVIA, record])
    with pytest.raises(ConfigError, match=re.escape(why)) as caught:
        read_questions(lines)
    assert f"{lines}:3: " in str(caught.value)
    array = write(tmp_path / "q.json", [{**TRIVIA, "answer": "a\nb"}, HOTPOT, record], indent=1)
    with pytest.raises(ConfigError, match=re.escape(why)) as caught:
        read_questions(array)
    begins = json.dumps([{**TRIVIA, "answer": "a\nb"}, HOTPOT], indent=1).count("\n") + 1
    assert f"{array}:{begins}: " in str(caught.value)


def test_many_faults_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", [HOTPOT, *([{"question": "x"}] * 8)])
    with pytest.raises(ConfigError, match="and 3 more") as caught:
        read_questions(path)
    assert [f"q.jsonl:{n}:" in str(caught.value) for n in (1, 2, 6, 7)] == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("q.jsonl", "{", "q.jsonl:1: not JSON"),
        ("q.jsonl", "\n\n", "holds no question"),
        ("q.json", "", "holds no question"),
        ("q.json", "[]", "holds no question"),
        ("q.json", '[\n{"question": "x", "answer": "y"},\n{"question": ', "q.json:3: not JSON"),
        ("q.json", '[{"question": "x", "answer": "y"},', "cut short"),
        ("q.json", '[{"question": "x", "answer": "y"}] []', "text after the end"),
        ("q.json", "[" * 200_000, "not JSON"),
        ("q.json", "9" * 5_000, "not JSON"),
        ("q.txt", "", "is no table"),
        ("missing.json", None, "there is no file"),
        ("missing.jsonl", None, "there is no file"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str, text: str | None, why: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(why)):
        read_questions(tmp_path / name)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "q.json").write_bytes(b'[{"question": "\xff"}]')
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_questions(tmp_path / "q.json")


def test_a_parquet_file_of_something_else(tmp_path: Path) -> None:
    path = write(tmp_path / "q.parquet", [{"text": "x"}])
    with pytest.raises(ConfigError, match=r"holds no question|'question' should be"):
        read_questions(path)
