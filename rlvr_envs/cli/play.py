"""Play an id in the terminal: read the problem, type an answer, see the verdict.

An answer may be bare (the format is added) or in the format that the prompt asks for. Where
answers are code or rows, an empty line ends an answer, or, if it begins with ``` or <answer>, what
closes that. Where a task has short commands, such as `s words` for a search, its prompt lists
them, and Tab completes the pages that were named.

`:help` or `?` lists what else may be typed: `:hint`, `:answer`, `:next`, `:up`, `:down`, `:quit`
and others. The arrow keys edit the line and bring earlier ones back; Ctrl-_ undoes a change, where
Python has readline. Ctrl-D leaves.
"""

import argparse
import io
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from rlvr_envs.cli._text import (
    MAX_LEVEL,
    add_knobs,
    difficulty,
    fill,
    natural,
    positive,
    say,
    width,
)
from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.task import InteractiveTask, Shorthand
from rlvr_envs.core.terminal import harmless
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.evaluation.plan import read_knobs


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some text in one style."""

    text: str
    style: str = ""


class Screen:
    """Where pages are printed."""

    def __init__(self) -> None:
        self._terminal = sys.stdout.isatty()
        self._console = _console() if self._terminal else None

    def page(self, text: str) -> None:
        """Print a page."""
        text = harmless(text).expandtabs(4)
        if not self._terminal:
            say(text)
            return
        room = max(_LEAST_COLUMNS, min(width(), MOST_COLUMNS))
        for pieces, indent in self._blocks(text.split("\n"), room):
            self._print(pieces, room, indent)

    def line(self, text: str, style: str) -> None:
        """Print a line in one style, where there are styles; it is not wrapped."""
        if self._console is None:
            say(text)
            return
        from rich.text import Text

        self._console.print(Text(harmless(text), style), soft_wrap=True)

    def prompt(self, text: str) -> str:
        """Return what stands before a typed line, for `input`."""
        if self._console is None or self._console.no_color:
            return text
        # readline counts what stands between these marks as no column.
        start, end = ("\x01", "\x02") if "readline" in sys.modules else ("", "")
        return f"{start}\x1b[1;36m{end}{text}{start}\x1b[0m{end}"

    @property
    def terminal(self) -> bool:
        """Whether it is one."""
        return self._terminal

    def _blocks(self, lines: Sequence[str], room: int) -> Iterator[tuple[list[_Piece], int]]:
        """Yield each line with the columns by which what is broken off it is set in."""
        table: list[list[str]] = []
        for line in lines:
            if line.startswith("|"):
                if not _RULE.fullmatch(line):
                    table.append([cell.strip() for cell in line.strip("| ").split("|")])
                continue
            yield from self._table(table, room)
            if line.startswith("## "):
                yield [], 0  # a line of air above a section
            table = []
            lead = _INDENT.match(line)
            yield self._pieces(line), lead.end() if lead else 0
        yield from self._table(table, room)

    def _pieces(self, line: str) -> list[_Piece]:
        """Return a line in its styles; without any, links stay as they are written."""
        if line.startswith(("# ", "## ", "Question: ")):
            return [_Piece(line, _HEADING)]
        if self._console is None:
            return [_Piece(line)]
        if line.startswith("(") and line.endswith(")"):
            return [_Piece(line, _ASIDE)]
        pieces, at = [], 0
        for link in _LINK.finditer(line):
            pieces.append(_Piece(line[at : link.start()]))
            pieces += [_Piece(link[1], _NAME), _Piece(f" ({link[2]})", _TARGET)]
            at = link.end()
        return [*pieces, _Piece(line[at:])]

    def _table(self, rows: list[list[str]], room: int) -> Iterator[tuple[list[_Piece], int]]:
        """Yield rows in columns, or one below the other where they are too wide for that."""
        if not rows:
            return
        cells = [[self._pieces(cell) for cell in row] for row in rows]
        n = max(map(len, cells))
        widths = [max(_length(row[i]) for row in cells if i < len(row)) for i in range(n)]
        if sum(widths) + 2 * (n - 1) > room:
            for first, *others in cells[1:]:
                yield [_Piece("- "), *first, _Piece(": "), *_joined(others)], 2
            return
        for number, row in enumerate(cells):
            line: list[_Piece] = []
            for cell, size in zip(row, widths, strict=False):
                line += [*cell, _Piece(" " * (size + 2 - _length(cell)))]
            yield line, 0
            if number == 0:
                yield [_Piece("  ".join("-" * size for size in widths), _TARGET)], 0

    def _print(self, pieces: Sequence[_Piece], room: int, indent: int) -> None:
        whole = "".join(piece.text for piece in pieces).rstrip()
        if self._console is None:
            say(_wrapped(whole, room, indent))
            return
        from rich.text import Text

        text = Text.assemble(*((piece.text, piece.style) for piece in pieces))
        text.rstrip()
        lines = _wrapped(whole, room, indent).split("\n")
        for line, (begin, end) in zip(lines, _places(whole, lines), strict=True):
            lead = " " * (len(line) - (end - begin))
            self._console.print(Text(lead) + text[begin:end], soft_wrap=True)


HELP = "play an environment in the terminal"
_FIRST, _LAST = 20, 3  # commands that are shown of an oracle's long way


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", help="an id, with or without rlvr/")
    parser.add_argument(
        "--difficulty",
        type=difficulty,
        metavar="D",
        help="a level '3', or a range '0-5' whose levels are equally likely (default: the knobs')",
    )
    parser.add_argument("--seed", type=natural, help="the first problem's (default: a new one)")
    parser.add_argument("--episodes", type=positive, help="stop after this many (default: no end)")
    add_knobs(parser)


def run(args: argparse.Namespace) -> int:
    """Play until the input ends."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a page may have what a terminal cannot show
        sys.stdout.reconfigure(errors="replace")
    env = TextEnv(args.id, difficulty=args.difficulty, **read_knobs(args.knob))
    screen = Screen()
    game = _Game(env, screen)
    played, total = 0, 0.0
    prompt, info = env.reset(seed=args.seed)
    # What is read by a program says nothing of keys and commands.
    more = ":help lists what else may be typed; " if screen.terminal else ""
    screen.page(f"Type an answer and press Enter; {more}Ctrl-D leaves.")
    try:
        while args.episodes is None or played < args.episodes:
            level = "default" if info["difficulty"] is None else info["difficulty"]
            title = f"── {info['task']}, difficulty {level} "
            say()
            screen.page(f"{title}{'─' * min(20, width() - len(title))}")
            try:
                total += game.episode(prompt)
            except _Another as asked:
                prompt, info = game.another(asked.level)
                continue
            played += 1
            say(f"   score so far: {total:g} of {played}")
            prompt, info = game.another()
    except (EOFError, KeyboardInterrupt, _Quit):
        say()
    say(f"{played} played, mean score {total / played:.2f}" if played else "nothing was played")
    return 0


class _Another(Exception):
    """Another problem is asked for, of a level if one is named."""

    def __init__(self, level: int | None = None) -> None:
        super().__init__(level)
        self.level = level


class _GivenUp(Exception):
    """The answer is asked for."""


class _Quit(Exception):
    """The end is asked for."""


_COMMANDS = {
    ":help": "lists this, as ? does",
    ":again": "shows the problem, or what came last, once more",
    ":hint": "shows the next step of the worked solution, where there is one",
    ":answer": "gives up: shows an answer of full marks, and counts 0",
    ":next": "goes on to another problem; this one does not count",
    ":up": "goes on to a problem one level higher",
    ":down": "goes on to a problem one level lower",
    ":level N": "goes on to a problem of that level",
    ":quit": "leaves, as Ctrl-D does",
}
_COMMAND = re.compile(r":[a-z]+(?: \S+)?")
_LEVEL = re.compile(r"\d{1,4}", re.ASCII)
_ENDS: dict[str, type[Exception]] = {":answer": _GivenUp, ":next": _Another, ":quit": _Quit}
_COLOURS = {Status.CORRECT: "bold green", Status.PARTIAL: "bold yellow", Status.WRONG: "bold red"}


class _Game:
    """A person and an environment in turns: what one types, what the other shows."""

    def __init__(self, env: TextEnv, screen: Screen) -> None:
        self._env = env
        self._screen = screen
        self._keyboard = Keyboard(screen)
        self._level: int | None = None  # what was asked for since the beginning
        self._observation = ""
        self._hints = 0  # shown of this problem

    def another(self, level: int | None = None) -> tuple[str, dict[str, Any]]:
        """Return the next problem, from now on of this level, if one is named."""
        wanted = self._level if level is None else level
        try:
            found = self._env.reset(options=None if wanted is None else {"difficulty": wanted})
        except ConfigError as error:  # a task of a file has no levels
            self._screen.page(f"({error})")
            return self._env.reset()
        self._level = wanted
        return found

    def episode(self, observation: str) -> float:
        """Play an episode that has begun; return its reward.

        Raises:
            _Another: another problem is asked for.
            _Quit: the end is asked for.
        """
        hand = _shorthand(self._env.instance)
        self._hints = 0
        try:
            while True:
                self._show(observation, hand)
                action = self._read() if hand is None else self._read_short(hand)
                observation, reward, terminated, truncated, info = self._env.step(action)
                if terminated or truncated:
                    break
        except _GivenUp:
            self._give_answer(hand)
            return 0.0
        if observation:
            self._show(observation, hand)
        verdict, reference = info["verdict"], info["reference"]
        self._tell(verdict)
        if hand is not None:
            self._explain(reference, hand)
        elif verdict.score < 1.0 and isinstance(reference, str):
            self._full_marks(reference)
        return reward

    def _tell(self, verdict: Verdict) -> None:
        told = f"   {verdict.status}: {verdict.score:g}  {verdict.detail}"
        say()
        self._screen.line(told.rstrip(), _COLOURS.get(verdict.status, "bold magenta"))

    def _full_marks(self, answer: str) -> None:
        say(f"   an answer of full marks:\n{textwrap.indent(answer, '     ')}")

    def _give_answer(self, hand: Shorthand | None) -> None:
        solution = self._env.instance.solution()
        say()
        if hand is not None and not isinstance(solution, str):
            self._explain(solution, hand)
            return
        self._full_marks(solution if isinstance(solution, str) else "\n".join(solution))

    def _obey(self, line: str) -> bool:
        """Do what a command says; return whether it was one."""
        if line == "?":
            line = ":help"
        if not _COMMAND.fullmatch(line):
            return False
        word, _, number = line.partition(" ")
        level = self._level_of(word, number)
        if level is not None:
            raise _Another(level)
        if line in _ENDS:
            raise _ENDS[line]
        match word:
            case ":help":
                self._help()
            case ":again":
                self._show(self._observation, _shorthand(self._env.instance))
            case ":hint":
                self._hint()
            case ":level":
                self._screen.page(f"(Nothing was sent: a level is from 0 to {MAX_LEVEL}.)")
            case _:
                hint = did_you_mean(word, [command.partition(" ")[0] for command in _COMMANDS])
                self._screen.page(f"(Nothing was sent: there is no command {line!r}{hint})")
        return True

    def _level_of(self, word: str, number: str) -> int | None:
        """Return the level that a command asks for, None if it asks for none."""
        level = self._env.instance.difficulty
        match word:
            case ":up":
                return 0 if level is None else min(level + 1, MAX_LEVEL)
            case ":down":
                return max(0, (level or 0) - 1)
            case ":level" if _LEVEL.fullmatch(number) and int(number) <= MAX_LEVEL:
                return int(number)
        return None

    def _help(self) -> None:
        hand = _shorthand(self._env.instance)
        calls = hand.commands if hand else ()
        lines = [f"- {short}: {does}" for short, does in (*calls, *_COMMANDS.items())]
        if _has_lines(self._env.instance):
            lines.append("- an answer: an empty line ends it, or what closes ``` or <answer>")
        self._screen.page("\n".join(lines))

    def _hint(self) -> None:
        instance = self._env.instance
        steps = instance.task.explain(instance.problem)
        if self._hints < len(steps):
            say(textwrap.indent(fill(steps[self._hints], 5), "     "))
            self._hints += 1
        else:
            what = "are no more steps" if steps else "is no worked solution"
            self._screen.page(f"(There {what}; :answer shows the answer.)")

    def _show(self, observation: str, hand: Shorthand | None) -> None:
        self._observation = observation
        say()
        if hand is None:
            say(fill(observation))
        else:
            text = hand.plain(observation)
            self._keyboard.offer(targets(text))
            self._screen.page(text)
        say()

    def _read(self) -> str:
        instance = self._env.instance
        form = answer_format(instance.format_label)
        block = _has_lines(instance)
        if block and self._screen.terminal:
            self._screen.page("(An answer may have several lines: an empty line ends it.)")
        text = self._keyboard.block(self._obey) if block else self._keyboard.line()
        while not block and self._obey(text.strip()):
            text = self._keyboard.line()
        as_it_is = instance.interactive and instance.format_label != "boxed"
        if as_it_is or form.extract(text).answer is not None:
            return text
        return form.wrap(text)

    def _read_short(self, hand: Shorthand) -> str:
        """Return an action; a slip of the finger costs nothing."""
        while True:
            line = self._keyboard.line().strip()
            if self._obey(line):
                continue
            action = hand.expand(line)
            if action is not None:
                return action
            if line:
                self._screen.page("(That is no call, and nothing was sent; ? lists the calls.)")

    def _explain(self, actions: list[str], hand: Shorthand) -> None:
        """Show how the oracle would have played."""
        way = [hand.shorten(action) for action in actions]
        calls, end = len(way) - 1, hand.commands[-1][0].split()[-1]
        self._screen.page(f"   a right {end}: {way[-1].partition(' ')[2]}")
        say(f"   the oracle's way, {calls} {'call' if calls == 1 else 'calls'} and the {end}:")
        if len(way) > _FIRST + _LAST + 1:
            left_out = len(way) - _FIRST - _LAST
            way = [*way[:_FIRST], f"… {left_out} more …", *way[-_LAST:]]
        for step in way:
            say(f"     {step}")


def _has_lines(instance: Instance) -> bool:
    """Return whether an answer is code or rows, and not a message of several turns."""
    if instance.format_label.startswith("fenced"):
        return True
    return not instance.interactive and "\n" in instance.reference()


def _shorthand(instance: Instance) -> Shorthand | None:
    task = instance.task
    return task.shorthand(instance.problem) if isinstance(task, InteractiveTask) else None


# What a person types in a game: lines with history and completion, and whole blocks of code.


_PROMPT = "> "
_BLOCKS = {"```": "```", "<answer>": "</answer>"}  # what opens a block and what closes it
_MOST_WORDS = 5_000  # to complete; a long session forgets nothing that one could still want


class Keyboard:
    """Reads lines; in a terminal with readline they have a history, and Tab completes words."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._typed = sys.stdin.isatty()
        self._words: dict[str, None] = {}
        self._found: list[str] = []
        self._readline = _readline() if self._typed and sys.stdout.isatty() else None
        if self._readline is not None:
            self._readline.set_completer(self._completed)
            self._readline.set_completer_delims(" \t\n")
            # macOS has libedit under the same name, with other words for its settings.
            edit = "libedit" in (self._readline.__doc__ or "")
            self._readline.parse_and_bind("bind ^I rl_complete" if edit else "tab: complete")

    def offer(self, words: Iterable[str]) -> None:
        """Take words that Tab completes from now on."""
        if len(self._words) < _MOST_WORDS:
            self._words.update(dict.fromkeys(words))

    def line(self) -> str:
        """Return a line; what comes through a pipe is shown, as a terminal would."""
        text = input(self._screen.prompt(_PROMPT))
        if not self._typed:
            say(text)
        return text

    def block(self, obeyed: Callable[[str], bool]) -> str:
        """Return lines up to an empty one, or a whole block, which may hold empty lines.

        A block is fenced, or stands between <answer> and </answer>.

        Args:
            obeyed: takes what may be a command instead of a first line; whether it was one.
        """
        lines: list[str] = []
        while True:
            line = input(self._screen.prompt(_PROMPT) if self._typed else "")
            if not lines and obeyed(line.strip()):
                continue
            text = "\n".join([*lines, line])
            opened = next((mark for mark in _BLOCKS if text.startswith(mark)), None)
            if opened is None and lines and not line:
                return "\n".join(lines)
            if opened is not None and text[len(opened) :].rstrip().endswith(_BLOCKS[opened]):
                return text
            lines.append(line)

    def _completed(self, begun: str, number: int) -> str | None:
        """Return a word that begins so, counted from 0, as readline asks."""
        if number == 0:
            self._found = sorted(word for word in self._words if word.startswith(begun))
        return self._found[number] if number < len(self._found) else None


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:  # not on every system
        return None
    return readline


# Pages of text in a terminal: headings, links, lists and tables, at the width that there is.
#
# In a terminal, lines are broken between words and, where rich is installed, headings and links
# stand out. What goes through a pipe keeps its lines and its Markdown.


MOST_COLUMNS = 120  # longer lines are hard to read
_LEAST_COLUMNS = 10
_LINK = re.compile(r"\[([^\]\n]*)\]\(([^)\n]*)\)")
_RULE = re.compile(r"[|\s:-]+")  # the line between a table's header and its rows
_INDENT = re.compile(r" *(?:- |\[\d+\] |\d+\. )?")
_NAME, _TARGET, _HEADING, _ASIDE = "bold cyan", "dim", "bold", "dim"


def targets(text: str) -> list[str]:
    """Return where the links of a text lead to."""
    return [target for _, target in _LINK.findall(text)]


def _console() -> Any:
    """Return a rich console that styles nothing but what it is told to, None without rich."""
    try:
        from rich.console import Console
    except ImportError:
        return None
    console = Console(highlight=False, markup=False, emoji=False)
    return console if console.color_system else None


def _wrapped(line: str, room: int, indent: int) -> str:
    """Return a line that is broken between words; no word is ever broken."""
    if len(line) <= room:
        return line
    return textwrap.fill(
        line,
        room,
        subsequent_indent=" " * min(indent, room // 4),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _places(whole: str, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where each line of a wrapped text stands in the whole."""
    at = 0
    for number, line in enumerate(lines):
        shown = line.lstrip() if number else line
        begin = whole.index(shown, at)
        at = begin + len(shown)
        yield begin, at


def _length(pieces: Sequence[_Piece]) -> int:
    return sum(len(piece.text) for piece in pieces)


def _joined(cells: Sequence[Sequence[_Piece]]) -> list[_Piece]:
    joined: list[_Piece] = []
    for number, cell in enumerate(cells):
        joined += [_Piece("; ")] if number else []
        joined += cell
    return joined
