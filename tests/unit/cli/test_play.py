"""Playing in a terminal and through a pipe: short commands, pages, and how a game ends."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest

from rlvr_envs.cli import play as play_command
from rlvr_envs.cli.main import main
from rlvr_envs.cli.play import Screen, harmless, targets
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.task import InteractiveTask

COMMAND = [sys.executable, "-m", "rlvr_envs", "play"]
CHAIN = ["ChainSearch-v0", "--difficulty", "1", "--seed", "3", "--episodes", "1"]
ESCAPE = "\x1b"


def problem(syntax="tags", difficulty=1):
    env = TextEnv("ChainSearch-v0", difficulty=difficulty, syntax=syntax)
    env.reset(seed=3)
    instance = env.instance
    return instance, instance.task.shorthand(instance.problem)


def short_play(syntax="tags"):
    instance, hand = problem(syntax)
    return [hand.shorten(action) for action in instance.reference()]


def play(monkeypatch, capsys, lines, arguments=CHAIN):
    """Play with these lines as the input, and return what was printed."""
    left = iter(lines)

    def typed(_prompt=""):
        line = next(left, EOFError)
        if not isinstance(line, str):
            raise line
        return line

    monkeypatch.setattr("builtins.input", typed)
    assert main(["play", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("syntax", ["tags", "json"])
def test_the_oracles_way_can_be_typed(monkeypatch, capsys, syntax):
    way = short_play(syntax)
    assert all(re.match(r"[sofa] \S", step) for step in way)
    told = play(monkeypatch, capsys, way, [*CHAIN, "--knob", f"syntax={syntax}"])
    assert "correct: 1" in told
    assert "1 played, mean score 1.00" in told
    assert f"the oracle's way, {len(way) - 1} calls and the answer:" in told
    assert told.split("and the answer:\n")[1].startswith("".join(f"     {s}\n" for s in way))


@pytest.mark.parametrize("syntax", ["tags", "json"])
def test_short_commands_and_actions_are_the_same(syntax):
    instance, hand = problem(syntax)
    for action in instance.reference():
        assert hand.expand(hand.shorten(action)) == action
        assert hand.expand(action) == action
    assert hand.expand("search a b") == hand.expand(" s  a b ")
    for text in ("", "s", "s ", "x y", "searches a", "o\u00a0page", "?"):
        assert hand.expand(text) is None
    assert hand.shorten("no call") == "no call"


def test_full_calls_work_beside_short_ones(monkeypatch, capsys):
    instance, _ = problem()
    assert "correct: 1" in play(monkeypatch, capsys, instance.reference())


def test_a_slip_costs_nothing_and_help_is_there(monkeypatch, capsys):
    told = play(monkeypatch, capsys, ["", "o", "hello", "?", "s village", "a nothing"])
    assert told.count("nothing was sent") == 2
    assert told.count("- o page-id#Section: opens one section of a page") == 2  # prompt and help
    calls = int(re.search(r"at most (\d+) before", told)[1])
    assert f"({calls - 1} calls left.)" in told
    assert f"({calls} calls left.)" not in told


def test_a_malformed_call_is_sent_and_explained_in_short_commands(monkeypatch, capsys):
    told = play(monkeypatch, capsys, ["<search>never closed", "a nothing"])
    assert (
        "there is no complete call in the message.\nMake one of these calls in each message:\n- s words:"
        in told
    )
    assert "<search>words</search>" not in told


@pytest.mark.parametrize("syntax", ["tags", "json"])
def test_the_prompt_speaks_of_short_commands(syntax):
    instance, hand = problem(syntax)
    prompt = hand.plain(instance.prompt())
    for short, does in hand.commands:
        assert f"\n- {short}: {does}\n" in prompt
    assert not re.search("[<{]", prompt)
    assert instance.problem.question in prompt


def test_frames_are_for_models_only(monkeypatch, capsys):
    told = play(monkeypatch, capsys, [*short_play()[:2], "a nothing"])
    assert "information>" not in told
    assert re.search(r"^- \[.+\]\([a-z-]+\): ", told, re.MULTILINE)


def test_after_a_wrong_answer_the_right_one_is_told(monkeypatch, capsys):
    instance, _ = problem()
    told = play(monkeypatch, capsys, ["a Nobody Ever"])
    assert "wrong: 0" in told
    assert f"a right answer: {instance.problem.answers[0][0]}\n" in told
    assert short_play()[0] in told


def test_a_long_way_is_told_in_short(monkeypatch, capsys):
    arguments = ["CountSearch-v0", "--difficulty", "10", "--seed", "2", "--episodes", "1"]
    told = play(monkeypatch, capsys, ["a 10001"], arguments)
    calls = int(re.search(r"the oracle's way, (\d+) calls", told)[1])
    assert calls > 24
    assert f"     … {calls + 1 - 23} more …\n" in told
    assert len(re.findall(r"^     [sofa] ", told, re.MULTILINE)) == 23


@pytest.mark.parametrize("end", [EOFError, KeyboardInterrupt])
def test_leaving_in_the_middle(monkeypatch, capsys, end):
    told = play(monkeypatch, capsys, ["s village", end])
    assert told.endswith("\nnothing was played\n")


@pytest.mark.parametrize("end", [EOFError, KeyboardInterrupt])
def test_leaving_counts_what_was_finished(monkeypatch, capsys, end):
    arguments = [*CHAIN[:-1], "3"]
    told = play(monkeypatch, capsys, [*short_play(), "s village", end], arguments)
    assert told.endswith("\n1 played, mean score 1.00\n")


def test_tasks_without_short_commands_have_none():
    env = TextEnv("GuessNumber-v0", difficulty=0)
    env.reset(seed=0)
    assert isinstance(env.instance.task, InteractiveTask)
    assert env.instance.task.shorthand(env.instance.problem) is None


def test_code_is_typed_in_blocks(monkeypatch, capsys):
    arguments = ["SqlQuery-v0", "--difficulty", "0", "--seed", "0", "--episodes", "1"]
    env = TextEnv("SqlQuery-v0", difficulty=0)
    env.reset(seed=0)
    query = [line for line in env.instance.reference().split("\n") if line]
    assert "correct: 1" in play(monkeypatch, capsys, [*query, ""], arguments)
    half = len(query) // 2
    told = play(monkeypatch, capsys, [*query[:half], "", *query[half:], ""], arguments)
    assert ("correct: 1" in told) == (half == 0)


GCD = ["Gcd-v0", "--difficulty", "2", "--seed", "0", "--episodes", "1"]


def test_help_lists_what_may_be_typed(monkeypatch, capsys):
    for line in (":help", "?"):
        told = play(monkeypatch, capsys, [line, "-1"], GCD)
        for command in (":hint", ":answer", ":next", ":up", ":down", ":level N", ":quit"):
            assert f"- {command}: " in told
        assert "an answer: an empty line" not in told
        assert "1 played, mean score 0.00" in told


def test_help_tells_how_code_is_entered(monkeypatch, capsys):
    arguments = ["SqlQuery-v0", "--difficulty", "0", "--seed", "0", "--episodes", "1"]
    assert "- an answer: an empty line ends it" in play(monkeypatch, capsys, [":help"], arguments)


def test_hints_are_the_steps_of_the_worked_solution(monkeypatch, capsys):
    env = TextEnv("Gcd-v0", difficulty=2)
    env.reset(seed=0)
    steps = env.instance.task.explain(env.instance.problem)
    told = play(monkeypatch, capsys, [":hint"] * (len(steps) + 1), GCD)
    assert [line.strip() for line in told.split("\n") if line.startswith("     ")] == steps
    assert "(There are no more steps; :answer shows the answer.)" in told


def test_giving_up_shows_the_answer_and_counts(monkeypatch, capsys):
    env = TextEnv("Gcd-v0", difficulty=2)
    env.reset(seed=0)
    told = play(monkeypatch, capsys, [":answer"], GCD)
    assert f"an answer of full marks:\n     {env.instance.solution()}\n" in told
    assert "1 played, mean score 0.00" in told


def test_giving_up_a_search_shows_the_oracles_way(monkeypatch, capsys):
    told = play(monkeypatch, capsys, [":answer"])
    assert "the oracle's way" in told
    assert short_play()[0] in told


def test_the_next_problem_counts_nothing(monkeypatch, capsys):
    told = play(monkeypatch, capsys, [":next", ":next"], GCD)
    assert told.count("difficulty 2 ──") == 3
    assert len(set(re.findall("greatest common divisor of .*", told))) == 3
    assert told.endswith("\nnothing was played\n")


@pytest.mark.parametrize(
    ("typed", "levels"),
    [
        ([":up", ":up", ":down"], [2, 3, 4, 3]),
        ([":down", ":down", ":down"], [2, 1, 0, 0]),
        ([":level 7", "-1"], [2, 7]),
        ([":level 7", ":next"], [2, 7, 7]),
    ],
)
def test_levels_are_changed_and_stay(monkeypatch, capsys, typed, levels):
    told = play(monkeypatch, capsys, typed, GCD)
    assert [int(level) for level in re.findall(r"difficulty (\d+) ──", told)] == levels


def test_a_task_without_levels_says_so(monkeypatch, capsys):
    arguments = ["MathDataset-v0", "--seed", "0"]
    told = play(monkeypatch, capsys, [":up", ":quit"], arguments)
    assert re.search(r"^\(.*difficulty.*\)$", told, re.MULTILINE)
    assert told.count("difficulty default ──") == 2


def test_a_mistyped_command_is_not_sent(monkeypatch, capsys):
    told = play(monkeypatch, capsys, [":hlep", ":level 99999", ":level x", ":quit"], GCD)
    assert "(Nothing was sent: there is no command ':hlep'; did you mean ':help'?)" in told
    assert told.count("(Nothing was sent: a level is from 0 to 1000.)") == 2
    assert told.endswith("\nnothing was played\n")


def test_the_problem_is_shown_again(monkeypatch, capsys):
    told = play(monkeypatch, capsys, [":again"], GCD)
    assert told.count("greatest common divisor") == 2


def test_a_fenced_answer_may_hold_empty_lines(monkeypatch, capsys):
    arguments = ["SqlQuery-v0", "--difficulty", "0", "--seed", "0", "--episodes", "1"]
    env = TextEnv("SqlQuery-v0", difficulty=0)
    env.reset(seed=0)
    query = env.instance.reference().split("\n")
    told = play(monkeypatch, capsys, [":help", "```sql", "", *query, "", "```"], arguments)
    assert "correct: 1" in told


def through_a_pipe(lines):
    return subprocess.run(
        [*COMMAND, *CHAIN],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TERM": "xterm-256color"},
    ).stdout


def test_a_pipe_gets_markdown_and_the_lines_that_were_typed():
    way = short_play()
    told = through_a_pipe(way)
    assert ESCAPE not in told
    assert "correct: 1" in told
    for step in way[:-1]:
        assert f"> {step}\n" in told
    assert "\n## Overview\n" in told
    assert max(map(len, told.split("\n"))) > 120


def as_a_terminal_would():
    """Take the terminal, and heed Ctrl-C, which what a script starts in its background ignores."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """The command in a pseudo-terminal of some width."""

    def __init__(self, columns, **settings):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        kept = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "COLUMNS", "LINES"}}
        self.process = subprocess.Popen(
            [*COMMAND, *CHAIN],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**kept, "TERM": "xterm-256color", **settings},
            start_new_session=True,
            preexec_fn=as_a_terminal_would,  # noqa: PLW1509 - no threads
        )
        os.close(slave)
        self.seen = ""

    def until(self, text, seconds=60):
        """Read until a text is there, or nothing more comes."""
        begin, end = len(self.seen), time.monotonic() + seconds
        while text not in self.seen[begin:] and time.monotonic() < end:
            if select.select([self.master], [], [], 1)[0]:
                try:
                    self.seen += os.read(self.master, 65_536).decode(errors="replace")
                except OSError:  # the other side is closed
                    break
        return self.seen[begin:].replace("\r", "")

    def type(self, text):
        os.write(self.master, text.encode())

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal():
    opened = []

    def begin(columns, **settings):
        opened.append(Terminal(columns, **settings))
        opened[0].until("> ")
        return opened[0]

    yield begin
    for one in opened:
        one.close()


@pytest.fixture(scope="module")
def opening():
    """Return the short command that opens the oracle's first page."""
    return short_play()[1]


def test_a_page_in_a_terminal(terminal, opening):
    pytest.importorskip("rich")
    screen = terminal(80)
    screen.type(f"{opening}\n")
    page = screen.until("calls left.)")
    assert ESCAPE in page
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", page)
    assert "## Overview" in plain
    assert re.search(r"[A-Z]\w+ \([a-z-]+\)", plain)
    assert "](" not in plain
    assert max(map(len, plain.split("\n"))) <= 80
    screen.type("a nothing\n")
    end = screen.until("1 played")
    assert "wrong: 0" in end
    assert screen.process.wait(60) == 0


def test_tab_completes_the_pages_that_were_named(terminal, opening):
    pytest.importorskip("readline")
    screen = terminal(80)
    screen.type('s "' + short_play()[0].split('"')[1] + '"\n')
    found = screen.until("calls left.)")
    page = opening.removeprefix("o ")
    assert page in found
    screen.type(f"o {page[:-2]}\t\n")
    assert page in screen.until("calls left.)")
    assert "## Overview" in screen.seen


def test_verdicts_and_prompts_have_colours(terminal):
    pytest.importorskip("rich")
    screen = terminal(80)
    assert re.search(r"\x1b\[[0-9;]*36m> ", screen.seen)
    assert ":help lists what else may be typed" in screen.seen
    screen.type("a nothing\n")
    assert re.search(r"\x1b\[[0-9;]*31m   wrong: 0", screen.until("1 played"))


def test_a_pipe_is_told_of_no_keys():
    assert through_a_pipe([]).startswith("Type an answer and press Enter; Ctrl-D leaves.\n")


@pytest.mark.parametrize("settings", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_no_colour_of_verdicts_and_prompts_where_none_is_wanted(terminal, settings):
    screen = terminal(80, **settings)
    screen.type("a nothing\n")
    screen.until("1 played")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", screen.seen)


@pytest.mark.parametrize("settings", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_no_colour_where_none_is_wanted(terminal, opening, settings):
    pytest.importorskip("rich")
    screen = terminal(80, **settings)
    screen.type(f"{opening}\n")
    page = screen.until("calls left.)")
    assert "## Overview" in page
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", page)
    assert ("](" in page) == (settings.get("TERM") == "dumb")


def test_a_terminal_of_20_columns(terminal, opening):
    screen = terminal(20, TERM="dumb")
    screen.type(f"{opening}\n")
    page = screen.until("calls.)")
    long = [line for line in page.split("\n")[1:] if len(line) > 20]
    assert all(" " not in line.strip() for line in long), long


def test_control_c_leaves_with_the_score(terminal):
    screen = terminal(80)
    for _ in range(20):  # one that comes just before the line is waited for is seen with the next
        screen.type("\x03")
        screen.until("nothing was played", seconds=2)
        if "nothing was played" in screen.seen:
            break
    assert "nothing was played" in screen.seen
    assert screen.process.wait(60) == 0


def test_control_d_leaves_with_the_score(terminal):
    screen = terminal(80)
    screen.type("\x04")
    assert "nothing was played" in screen.until("nothing was played")
    assert screen.process.wait(60) == 0


# Pages that no generator writes: corpora are other people's text.


@pytest.fixture
def shown(monkeypatch, capsys):
    """Return what a page looks like in a terminal of some width, without rich."""

    def show(text, columns):
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(play_command, "_console", lambda: None)
        monkeypatch.setenv("COLUMNS", str(columns))
        Screen().page(text)
        return capsys.readouterr().out.removesuffix("\n").split("\n")

    return show


def test_a_page_cannot_steer_the_terminal(shown):
    hostile = "\x1b]0;title\x07\x1b[2J\x9b31m\r\x08text\x7f"
    assert harmless(hostile).replace("\ufffd", "") == "]0;title[2J31mtext"
    assert harmless("lines\n\tand tabs, é, 日本") == "lines\n\tand tabs, é, 日本"
    assert shown(f"# Title\n{hostile}", 80) == ["# Title", harmless(hostile)]


def test_lines_stay_readable_in_a_wide_terminal(shown):
    assert max(map(len, shown("some words " * 50, 300))) in range(100, 121)


def test_tables_keep_their_columns(shown):
    table = "| Entry | Value |\n| --- | --- |\n| seat | [Oak](oak) |\n| founded | 1,901 |"
    assert shown(table, 40) == [
        "Entry    Value",
        "-------  ----------",
        "seat     [Oak](oak)",
        "founded  1,901",
    ]


def test_a_table_too_wide_becomes_a_list(shown):
    table = "| Entry | Value | Note |\n| --- | --- | --- |\n| seat | Oakenbridge town | none |"
    assert shown(table, 20) == ["- seat: Oakenbridge", "  town; none"]


def test_uneven_rows_are_shown(shown):
    assert shown("| a | b |\n|---|---|\n| only |\n| 1 | 2 | 3 |", 30) == [
        "a     b",
        "----  -  -",
        "only",
        "1     2  3",
    ]


def test_lists_are_set_in_and_sections_have_air(shown):
    text = "# Title\nWords and words.\n## Notes\n- an item of many words\n[1] a note of many words\n  x: what is set in"
    assert shown(text, 16) == [
        "# Title",
        "Words and words.",
        "",
        "## Notes",
        "- an item of",
        "  many words",
        "[1] a note of",
        "    many words",
        "  x: what is set",
        "  in",
    ]


def test_words_are_never_broken(shown):
    lines = shown("a very-very-very-long-address-of-a-page here\tand \u00a0there " + "x" * 50, 20)
    assert "very-very-very-long-address-of-a-page" in lines
    assert "x" * 50 in lines


def test_targets_of_links():
    assert targets("[A (b)](a-b) and [C](c)\n[no] (y)") == ["a-b", "c"]


def test_rich_styles_what_is_wrapped(monkeypatch, capsys):
    rich = pytest.importorskip("rich.console")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "24")
    monkeypatch.setattr(
        play_command,
        "_console",
        lambda: rich.Console(force_terminal=True, color_system="standard", highlight=False),
    )
    Screen().page("Told by [Ada of Oak Hill](ada-of-oak-hill) twice, twice.\n(2 calls left.)")
    told = capsys.readouterr().out
    plain = re.sub(r"\x1b\[[0-9;]*m", "", told)
    assert plain == "Told by Ada of Oak Hill\n(ada-of-oak-hill) twice,\ntwice.\n(2 calls left.)\n"
    assert "\x1b[1;36mAda of Oak Hill" in told
    assert "\x1b[2m(2 calls left.)" in told


@pytest.mark.parametrize("syntax", ["tags", "json"])
def test_the_proposer_asks_by_a_short_command_too(syntax):
    env = TextEnv("SearchProposer-v0", difficulty=1, syntax=syntax)
    env.reset(seed=1)
    instance = env.instance
    hand = instance.task.shorthand(instance.problem)
    prompt = hand.plain(instance.prompt())
    for short, does in hand.commands:
        assert f"\n- {short}: {does}\n" in prompt
    assert not re.search("[<{]", prompt)
    for action in instance.reference():
        assert hand.expand(hand.shorten(action)) == action


SUDOKU = ["Sudoku-v0", "--difficulty", "0", "--seed", "5", "--episodes", "1"]


@pytest.mark.parametrize("around", [((), ("",)), (("<answer>",), ("</answer>",))])
def test_rows_are_typed_one_by_one(monkeypatch, capsys, around):
    env = TextEnv("Sudoku-v0", difficulty=0)
    env.reset(seed=5)
    rows = env.instance.reference().split("\n")
    before, after = around
    assert len(rows) > 1
    assert "correct: 1" in play(monkeypatch, capsys, [*before, *rows, *after], SUDOKU)


def test_an_answer_of_rows_is_shown_with_its_rows_below_each_other(monkeypatch, capsys):
    told = play(monkeypatch, capsys, ["1", ""], SUDOKU)
    assert re.search(r"an answer of full marks:\n(     \d \d \d \d\n){4}", told)
