"""What docs/search.md shows is what one gets."""

import dataclasses
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.registry import find

PAGE = (Path(__file__).resolve().parents[3] / "docs/search.md").read_text("utf-8")


def rows(heading):
    page = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.split("\n") if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if not set("".join(row)) <= set("- |")][1:]


@pytest.mark.parametrize("row", rows("Kinds of questions"), ids=lambda row: row[0])
def test_the_questions_are_real(row):
    task, _, question, answer = row
    env = TextEnv(task.strip("`"), difficulty=3)
    env.reset(seed=16)
    assert env.instance.problem.question == question
    assert ", ".join(forms[0] for forms in env.instance.problem.answers) == answer


def test_every_kind_is_there():
    kinds = {row[0].strip("`") for row in rows("Kinds of questions")}
    assert kinds == {task.removeprefix("rlvr/") for task in TextEnv("Search-v0").source.task_ids}


def test_the_levels_are_right():
    told = {name: cells for name, *cells in rows("Difficulty levels")}
    for place, level in enumerate((0, 2, 5, 10)):
        config = find("ChainSearch-v0").task_type.Config.at(level)
        env = TextEnv("ChainSearch-v0", difficulty=level)
        env.reset(seed=0)
        world = env.instance.problem.world
        facts = {field.name: getattr(world, field.name) for field in dataclasses.fields(world)}
        expected = {
            "pages": f"{world.n_articles}",
            "hops of a path": f"{config.hops}",
            "calls before the answer, at least": f"{config.max_calls}",
            "calls that fail": share(config.failure_rate),
            "things with a second name": share(facts["alias_rate"]),
            "mentions that use it": share(facts["alias_use"]),
            "people, places and works that share a name": share(facts["homonym_rate"]),
            "facts recorded on another page": share(facts["elsewhere"]),
            "facts recorded in a table": share(facts["in_table"]),
            "facts recorded in a footnote": share(facts["in_footnote"]),
            "facts that two sources disagree about": share(facts["conflict_rate"]),
            "dead links": share(facts["dead_link_rate"]),
            "sentences of a page that only mention others": f"{facts['distractors']}",
            "sentences of a section that tell nothing": f"{facts['fillers']}",
            "ways to say a fact": f"{facts['paraphrases']}",
        }
        assert {name: cells[place] for name, cells in told.items()} == expected


def share(value):
    return f"{value * 100:g}%"


CALL = '{"name": "%s", "arguments": {%s}}'


@pytest.mark.parametrize(
    ("syntax", "action", "said"),
    [
        ("tags", "I would search.", "Nothing was run: there is no complete call in the message."),
        ("tags", "<search>open", "Nothing was run: there is no complete call in the message."),
        ("tags", "<search> </search>", "Nothing was run: the search call is empty."),
        ("json", CALL % ("search", '"q": 1'), "Nothing was run: the arguments of search are: query."),
        ("tags", "x" * 100_001, "Nothing was run: the message is longer than 100000 characters."),
        (
            "tags",
            '<search>"no such words"</search>',
            "Nothing was found. Words in double quotes must occur as a phrase: use fewer words, or no quotes.",
        ),
        (
            "tags",
            "<access>dorraligate-lost</access>",
            "There is no page with the id 'dorraligate-lost'. Search for the page by name.",
        ),
        (
            "json",
            CALL % ("open", '"page": "dorraligate", "section": "Data"'),
            (
                "Dorraligate has no section 'Data'. Its sections: Overview, "
                "Geography, History, Public life."
            ),
        ),
        (
            "tags",
            "<find>mayor</find>",
            "Open a page first: this tool looks for text on the page opened last.",
        ),
        (
            "tags",
            "<access>dorraligate#3</access>",
            "There is no part 3: the result has 1 part.",
        ),
    ],
)  # fmt: skip
def test_errors_of_calls_are_told_as_the_page_says(syntax, action, said):
    assert f"| {said} |" in PAGE
    env = TextEnv("ChainSearch-v0", difficulty=1, syntax=syntax)
    env.reset(seed=3)
    assert f"\n{said}\n" in env.step(action)[0]


def test_calls_that_fail_and_calls_used_up():
    told = [row[1] for row in rows("Calls") if len(row) == 2]
    env = TextEnv("ChainSearch-v0", difficulty=1, failure_rate=0.5)
    env.reset(seed=3)
    calls = env.instance.problem.limits.max_calls
    replies = [env.step("<access>dorraligate</access>")[0] for _ in range(calls)]
    assert "The tool did not respond. Try again." in told
    assert any("The tool did not respond. Try again." in reply for reply in replies)
    assert replies[-1].endswith("(No calls are left. Your next message must be the answer.)")
    assert "(No calls are left. Your next message must be the answer.)" in told
    assert env.step("<access>dorraligate</access>")[2]


def test_the_exchange_in_json_is_real():
    block = next(b for b in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL) if "<think>" in b)
    message, result = block.strip().split("\n\n")
    env = TextEnv("ChainSearch-v0", difficulty=1, syntax="json")
    env.reset(seed=3)
    assert env.step(message)[0] == result


def play(arguments, text, **settings):
    done = subprocess.run(
        [sys.executable, "-m", "rlvr_envs", *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **settings},
    )
    return done.stdout


def test_the_episode_is_real():
    # Through a pipe: the same words on the same pages, though in longer lines.
    shell = re.search(r"rlvr (play Temporal.*)\n```", PAGE)[1]
    shown = next(b for b in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL) if "──" in b)
    commands = re.findall(r"^> (.*)$", shown, re.MULTILINE)
    assert [command[0] for command in commands] == ["s", "o", "o", "a"]
    told = play(shlex.split(shell), "".join(f"{command}\n" for command in commands))
    told = re.sub(r"\[([^\]\n]+)\]\(([^)\n]+)\)", r"\1 (\2)", told)
    told = re.sub(r"^\| --- .*\n", "", told, flags=re.MULTILINE)
    assert words(told) == words(re.sub(r"^-{5,}.*\n", "", shown, flags=re.MULTILINE))


def words(text):
    return " ".join(re.sub(r"^\| (.*) \|$", r"\1", text, flags=re.MULTILINE).split()).replace(
        " | ", " "
    )


def test_the_pipe_is_real():
    typed, shell = re.search(r"printf '%s\\n' (.*) \|\n +rlvr (play .*)\n", PAGE).groups()
    told = play(shlex.split(shell), "".join(f"{line}\n" for line in shlex.split(typed)))
    assert "correct: 1" in told
