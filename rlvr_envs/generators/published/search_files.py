"""Files of questions with accepted answers, as HotpotQA, 2WikiMultihopQA, NQ and others write them.

JSONL and Parquet, and JSON: one array of objects, or objects one after another. A record has

- ``question``;
- ``answer``, ``answers`` or ``golden_answers``: a text, a whole number, a list of these, or an
  object whose ``value`` or ``text`` is one of them, with ``aliases`` or none (TriviaQA, SQuAD);
- ``aliases``, ``answer_aliases`` or ``aug_answer`` with more accepted forms, if there are any;
- ``id``, ``_id``, ``qid`` or ``question_id``; without one, its number in the file;
- ``type`` and ``level``, also inside of ``metadata``, if there are any;
- the titles of the documents that hold the evidence, if they are known: ``titles``, or
  ``supporting_facts`` (HotpotQA, 2WikiMultihopQA; also inside of ``metadata``), or the
  ``paragraphs`` that are marked ``is_supporting`` (MuSiQue).

Everything else, such as ``context``, is left out. Whatever holds no word, or cannot be written in
the call of an answer, is no answer; a record with ``"answerable": false`` has none.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.tables import Entry, entries
from rlvr_envs.generators.search_episodes.protocol import (
    ANSWER,
    MAX_ARGUMENT_CHARS,
    SYNTAXES,
    Call,
    call_text,
    parse_action,
)
from rlvr_envs.verifiers.retrieval import MAX_CHARACTERS, normal

_IDS = ("id", "_id", "qid", "question_id")
_ANSWERS = ("answer", "answers", "golden_answers", "aliases", "answer_aliases", "aug_answer")
_INSIDE = ("value", "text", "aliases")
_EVIDENCE = ("titles", "supporting_facts", "paragraphs")
_OTHERS = ("question", "type", "level", "metadata", "answer_id", "answerable")
_COLUMNS = (*_OTHERS, *_IDS, *_ANSWERS, *_EVIDENCE)
_SHOWN = 5  # faults in a message
_TITLE_CHARS = 300  # a longer text is no title


@dataclass(frozen=True, slots=True)
class CorpusQuestion:
    """A question about a corpus of the user.

    Attributes:
        id: what the file calls it, or its number there.
        text: the question.
        answers: the accepted forms of its answer, the one to show first.
        kind: the type that the file gives it, such as ``bridge``; empty without one.
        level: the level that the file gives it, such as ``hard``; empty without one.
        titles: of the documents that hold the evidence, in the order of the file; empty where
            they are not known.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    kind: str = ""
    level: str = ""
    titles: tuple[str, ...] = ()


def read_questions(
    path: Path, aliases: Path | None = None, *, skip_faults: bool = False
) -> list[CorpusQuestion]:
    """Return the questions of a file, in its order.

    Args:
        path: the file; its suffix is ``.jsonl``, ``.ndjson``, ``.json`` or ``.parquet``.
        aliases: the ``id_aliases.json`` that comes with 2WikiMultihopQA, or a file like it: records
            of ``Q_id`` with ``aliases`` and ``demonyms``; they are accepted for ``answer_id``.
        skip_faults: leave out records that are wrong, as long as others are left.

    Raises:
        ConfigError: there is no such file, it holds no question, or a record is wrong and may not
            be left out; the message says which records, and what is wrong with them.
        DependencyError: it is a Parquet file and pyarrow is missing.
    """
    more = {} if aliases is None else _read_aliases(aliases)
    found: list[CorpusQuestion] = []
    places: dict[str, str] = {}
    faults: list[str] = []
    for number, entry in enumerate(_records(path, _COLUMNS), 1):
        try:
            question = _question(entry, number, more)
        except ConfigError as error:
            faults.append(str(error))
            continue
        if question.id in places:
            told = f"its id {question.id!r:.80} is that of {places[question.id]}"
            faults.append(f"{entry.place}: {told}")
        else:
            found.append(question)
            places[question.id] = entry.place
    if faults and not (skip_faults and found):
        rest = len(faults) - _SHOWN
        shown = [*faults[:_SHOWN], *([f"and {rest} more"] if rest > 0 else [])]
        raise ConfigError("; ".join(shown))
    if not found:
        raise ConfigError(f"{str(path)!r} holds no question")
    return found


def _records(path: Path, columns: Sequence[str]) -> Iterator[Entry]:
    if path.suffix == ".json" and path.is_file():
        return _json_records(path)
    return entries(path, columns)


def _json_records(path: Path) -> Iterator[Entry]:
    """Yield the objects of a JSON file one by one, each with the line it begins at."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        told = f"{str(path)!r} is not UTF-8: {error.reason} at byte {error.start}"
        raise ConfigError(told) from error
    decoder = json.JSONDecoder()
    at = _skip(text, 0, "")
    array = text.startswith("[", at)
    at, line, counted = at + array, 1, 0
    while (at := _skip(text, at, "," if array else "")) < len(text):
        if array and text[at] == "]":
            if text[at + 1 :].strip():
                raise ConfigError(f"{path}:{line}: not JSON: text after the end of the array")
            return
        line, counted = line + text.count("\n", counted, at), at
        try:
            data, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}:{line}: not JSON: {error}") from error
        fault = "" if isinstance(data, dict) else f"expected a JSON object, got {data!r:.80}"
        yield Entry(f"{path}:{line}", {} if fault else data, fault)
    if array:
        raise ConfigError(f"{str(path)!r} is cut short: its array has no end")


def _skip(text: str, at: int, more: str) -> int:
    """Return the next place that holds neither white space nor a separator."""
    while at < len(text) and (text[at] in " \t\r\n" or text[at] in more):
        at += 1
    return at


def _question(entry: Entry, number: int, more: Mapping[str, list[str]]) -> CorpusQuestion:
    data, place = entry.data, entry.place
    if entry.fault:
        raise ConfigError(f"{place}: {entry.fault}")
    if data.get("answerable") is False:
        raise ConfigError(f"{place}: the file says that the question has no answer")
    text = data.get("question")
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f"{place}: 'question' should be a text, got {text!r:.80}")
    if len(text) > MAX_CHARACTERS:
        raise ConfigError(f"{place}: the question is longer than {MAX_CHARACTERS:,} characters")
    forms = [form for name in _ANSWERS for form in _forms(data.get(name), name, place)]
    forms += more.get(str(data.get("answer_id")), [])
    answers = tuple(dict.fromkeys(form.strip() for form in forms if _readable(form)))
    if not answers:
        known = ", ".join(_ANSWERS[:3])
        raise ConfigError(f"{place}: no answer that holds a word and can be given, under {known}")
    return CorpusQuestion(
        id=next((str(data[name]) for name in _IDS if _is_plain(data.get(name))), str(number)),
        text=text.strip(),
        answers=answers,
        kind=_label(data, "type"),
        level=_label(data, "level"),
        titles=_titles(data),
    )


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _readable(form: str) -> bool:
    """Tell whether a form holds a word and an agent can give it as its answer."""
    form = form.strip()
    if len(form) > MAX_ARGUMENT_CHARS or not normal(form):
        return False
    return not set(form) & set("<>`") or all(_can_be_given(form, syntax) for syntax in SYNTAXES)


def _can_be_given(form: str, syntax: str) -> bool:
    call = Call(ANSWER, form)
    return parse_action(call_text(call, syntax), syntax) == call


def _forms(value: object, name: str, place: str) -> list[str]:
    """Return the accepted forms in a field: of one text or number, of a list, or of an object."""
    if isinstance(value, Mapping):
        parts = [value.get(inner) for inner in _INSIDE]
        values = [item for part in parts for item in (part if isinstance(part, list) else [part])]
    else:
        values = value if isinstance(value, list) else [value]
    values = [item for item in values if item is not None]
    wrong = [item for item in values if not isinstance(item, str | int) or isinstance(item, bool)]
    if wrong:
        told = f"{name!r} should hold texts or whole numbers, got {wrong[0]!r:.80}"
        raise ConfigError(f"{place}: {told}")
    return [str(item) for item in values]


def _label(data: Mapping[str, Any], name: str) -> str:
    inner = data.get("metadata")
    for source in (data, inner if isinstance(inner, Mapping) else {}):
        if _is_plain(source.get(name)):
            return str(source[name])
    return ""


def _titles(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the titles of the evidence; what has another form than those known tells none."""
    inner = data.get("metadata")
    found: list[object] = []
    for source in (data, inner if isinstance(inner, Mapping) else {}):
        given, facts = source.get("titles"), source.get("supporting_facts")
        found += given if isinstance(given, list) else []
        if isinstance(facts, Mapping):
            facts = facts.get("title")
        for fact in facts if isinstance(facts, list) else []:
            found.append(fact[0] if isinstance(fact, list) and fact else fact)
        paragraphs = source.get("paragraphs")
        for paragraph in paragraphs if isinstance(paragraphs, list) else []:
            if isinstance(paragraph, Mapping) and paragraph.get("is_supporting") is True:
                found.append(paragraph.get("title"))
    titles = (title.strip() for title in found if isinstance(title, str))
    return tuple(dict.fromkeys(title for title in titles if title and len(title) <= _TITLE_CHARS))


def _read_aliases(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in _records(path, ("Q_id", "aliases", "demonyms")):
        if entry.fault or not _is_plain(entry.data.get("Q_id")):
            told = entry.fault or f"'Q_id' should be a text, got {entry.data.get('Q_id')!r:.80}"
            raise ConfigError(f"{entry.place}: {told}")
        for name in ("aliases", "demonyms"):
            forms = _forms(entry.data.get(name), name, entry.place)
            found.setdefault(str(entry.data["Q_id"]), []).extend(forms)
    return found
