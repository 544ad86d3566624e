"""No file, model or server speaks to the terminal through the command line."""

import io
import json
import sys

import pytest

from rlvr_envs.cli import main as cli
from rlvr_envs.cli._text import say
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import RlvrEnvsError

HOSTILE = "\x1b]0;title\x07\x1b[2J\x9b31m\rtext\x00\ud800"


@pytest.fixture
def questions(tmp_path):
    """A file whose question holds escape sequences."""
    path = tmp_path / "questions.jsonl"
    question = HOSTILE.removesuffix("\ud800") + " 1 + 1?"  # no half of a pair is read
    path.write_text(json.dumps({"question": question, "answer": "2"}))
    return f"path={path}"


def silent(text):
    return not set(text) & set("\x1b\x07\x9b\r\x00\ud800")


def test_what_is_said_moves_no_cursor(capsys):
    say(HOSTILE, 5, file=sys.stderr)
    said = capsys.readouterr().err
    assert silent(said)
    assert said.endswith("text\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} 5\n")


def test_show_and_play(questions, capsys, monkeypatch):
    assert cli.main(["show", "MathDataset-v0", "--knob", questions]) == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO("3\n"))
    assert cli.main(["play", "MathDataset-v0", "--knob", questions, "--episodes", "1"]) == 0
    said = capsys.readouterr()
    assert "1 + 1?" in said.out
    assert silent(said.out + said.err)


@pytest.mark.parametrize("error", [RlvrEnvsError(HOSTILE), OSError(5, HOSTILE, HOSTILE)])
def test_error_lines(error, capsys, monkeypatch):
    def fail(_):
        raise error

    monkeypatch.setattr("rlvr_envs.cli.list.run", fail)
    assert cli.main(["list"]) in (1, 2)
    said = capsys.readouterr().err
    assert "title" in said
    assert silent(said)


def test_an_environment_that_shows_itself(questions, capsys):
    env = TextEnv("MathDataset-v0", path=questions.partition("=")[2], render_mode="human")
    env.reset(seed=0)
    env.step(HOSTILE)
    said = capsys.readouterr().out
    assert "1 + 1?" in said
    assert silent(said)
