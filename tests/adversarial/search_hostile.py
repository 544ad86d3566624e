"""Plays hostile messages and queries; run as a process of its own under a limit of CPU time.

    python search_hostile.py messages|queries tags|json|bm25|tantivy

Prints how many were played. What is slow is killed by the limit that the test sets.
"""

import json
import sys

import rlvr_envs  # noqa: F401 - registers every id
from rlvr_envs.core.env import TextEnv
from rlvr_envs.generators.worlds.articles import articles
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world
from rlvr_envs.retrieval.base import Document
from rlvr_envs.retrieval.engines import build

DEEP = 30_000
FIELDS = ("title:", "text:", "number:", "_all:")
BOMBS = {
    "unbalanced quotes": '"' * 1999,
    "quotes apart": '" ' * 999,
    "open phrase": '"' + "was " * 499,
    "one word a phrase": '"was" ' * 333,
    "phrase of one word": '"' + "was " * 495 + '"',
    "parentheses": "(" * 1000 + ")" * 1000,
    "open parentheses": "((((",
    "wildcards": "a* *a a?a ??? *:* ",
    "fuzzy": "a~9999 was~2 " * 100,
    "slop": '"was born"~999999',
    "boosts": "was^1e308 was^-1 was^nan",
    "ranges": "[a TO z] {* TO *} [* TO 9]",
    "fields": " ".join(f"{field}was {field}" for field in FIELDS),
    "booleans": "AND OR NOT + - && || ! AND",
    "must and must not": "+was -was",
    "regex": r"/(a+)+$/ (x+x+)+y [[[ \\ \1",
    "escapes": "\\" * 2000,
    "set query": "IN [a b c",
    "hundred thousand terms": " ".join(f"w{n}" for n in range(100_000)),
    "one word of a million letters": "a" * 1_000_000,
    "all the same word": "was " * 100_000,
    "sql": "'; DROP TABLE pages; -- \" OR 1=1",
    "json": '{"query": {"match_all": {}}}',
    "nul": "was\x00born\x00",
    "lone surrogates": "\ud800was\udfff",
    "right to left": "\u202ewas\u202c",
    "zero width": "w\u200bas \u200d \ufeff",
    "marks upon marks": "a" + "\u0301" * 1999,
    "long ligatures": "\ufdfa" * 2000,
    "spaces of every kind": "\u2003\u3000\u2028\u2029\x85\x0b" * 300,
    "empty": "",
    "part": "was #9999",
    "huge part": "was #" + "9" * 1000,
    "negative part": "was #-1",
}


def messages(syntax: str) -> list[str]:
    """Return long and deep messages, none of them an answer."""
    call = (
        "<search>was</search>"
        if syntax == "tags"
        else '<tool_call>{"name": "search", "arguments": {"query": "was"}}</tool_call>'
    )
    found = [
        call * 1_900,
        call * (999_000 // len(call)),
        call + " " * 999_000,
        "<" * 99_000,
        "<search>" * 12_000,
        "<information></information>" * 3_600,
        "<information>" * 7_600,
        "<tool_call>" * 9_000,
        "<think>" * 14_000 + call,
        "</think>" * 12_000,
        "<think></think>" * 6_600 + "<think>" + call,
        "```json\n" * 12_000,
        "\n" * 99_000,
        "{" * 99_000,
        "[" * 99_000,
        '{"a":' * 19_000,
        '{"name":' * 12_000 + "1" + "}" * 12_000,
        '{"name": "search", "arguments": ' + "[" * DEEP + "]" * DEEP + "}",
        '{"name": "search", "arguments": {"query": ' + "9" * 90_000 + "}}",
        '{"name": "search", "arguments": {"query": 1e' + "9" * 90_000 + "}}",
        '{"name": "search", "arguments": "' + "\\\\" * 40_000 + '"}',
        "{" + ", ".join(f'"k{n}": {n}' for n in range(8_000)) + "}",
        "{" + ", ".join('"name": "search"' for _ in range(6_000)) + "}",
        '"' * 99_000,
        "\\" * 99_000,
        "\u202e" * 99_000,
        "\ud800" * 99_000,
        "\x00" * 99_000,
        "a\u0301" * 45_000,
    ]
    for name, text in BOMBS.items():
        bomb = text[:3_900]
        if syntax == "tags":
            found += [f"<{tag}>{bomb}</{tag}>" for tag in ("search", "access", "find")]
        else:
            tools = (("search", "query"), ("open", "page"), ("find", "text"))
            found += [
                json.dumps({"name": tool, "arguments": {key: bomb}}, ensure_ascii=name != "nul")
                for tool, key in tools
            ]
    return found


def play(syntax: str) -> int:
    """Send all messages in one episode; the honest answer at its end must still be right."""
    env = TextEnv("rlvr/ChainSearch-v0", difficulty=6, syntax=syntax, max_calls=10_000)
    env.reset(seed=4)
    problem = env.instance.problem
    sent = messages(syntax)
    for turn, message in enumerate(sent, start=1):
        text, reward, terminated, truncated, info = env.step(message)
        if terminated or truncated or reward or len(text) > 20_000:
            raise SystemExit(f"message {turn} of {len(message)} characters: {info}")
    session_end = env.instance.task.play(problem)[-1]
    _, reward, terminated, _, info = env.step(session_end)
    if reward != 1.0 or not terminated or info["verdict"].parts["calls"] != len(sent):
        raise SystemExit(f"the honest answer earned {reward}: {info['verdict']}")
    env.reset(seed=4)
    _, reward, terminated, _, info = env.step("a" * 10_000_000 + session_end)
    if reward or not terminated or not info["scored"]:
        raise SystemExit(f"ten million characters earned {reward}: {info['verdict']}")
    return len(sent) + 1


def search(name: str) -> int:
    """Send all queries to an engine over the articles of a world."""
    pages = articles(build_world(WorldSpec.at(6), 1))
    documents = [
        Document(page.id, page.title, "\n".join(section.text for section in page.sections))
        for page in pages
    ]
    engine = build(documents, name)
    for bomb, text in BOMBS.items():
        for query in (text, text * 3, f'"{text}"', f'was "{text[:50]}" {text}'):
            hits = engine.search(query, 50)
            if len({hit.id for hit in hits}) != len(hits) or len(hits) > 50:
                raise SystemExit(f"{bomb}: {hits}")
    return 4 * len(BOMBS)


if __name__ == "__main__":
    what, which = sys.argv[1:]
    print(play(which) if what == "messages" else search(which))  # noqa: T201 - what the test reads
