"""Play an id in the terminal: read the problem, type an answer, see the verdict.

An answer may be bare (the format is added) or in the format that the prompt asks for. Where a task
has short commands, such as `s words` for a search, its prompt lists them, `?` lists them again, and
Tab completes the pages that were named. An empty line ends a multi-line answer where the answer is
a code block; Ctrl-D leaves.
"""

import argparse
import io
import sys

from rlvr_envs.cli._play_input import Keyboard
from rlvr_envs.cli._terminal import Screen, harmless, targets
from rlvr_envs.cli._text import add_knobs, difficulty, fill, natural, positive, width
from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.task import InteractiveTask, Shorthand
from rlvr_envs.evaluation.plan import read_knobs

HELP = "play an environment in the terminal"

_FIRST, _LAST = 20, 3  # commands that are shown of an oracle's long way


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", help="an id, with or without rlvr/")
    parser.add_argument(
        "--difficulty",
        type=difficulty,
        metavar="D",
        help="a rung '3', or a range '0-5' whose rungs are equally likely (default: the knobs')",
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
    screen.page("Type an answer and press Enter; Ctrl-D leaves.")
    try:
        while args.episodes is None or played < args.episodes:
            rung = "default" if info["difficulty"] is None else info["difficulty"]
            title = f"── {info['task']}, difficulty {rung} "
            print()
            screen.page(f"{title}{'─' * min(20, width() - len(title))}")
            total += game.episode(prompt)
            played += 1
            print(f"   score so far: {total:g} of {played}")
            prompt, info = env.reset()
    except (EOFError, KeyboardInterrupt):
        print()
    print(f"{played} played, mean score {total / played:.2f}" if played else "nothing was played")
    return 0


class _Game:
    """A person and an environment in turns: what one types, what the other shows."""

    def __init__(self, env: TextEnv, screen: Screen) -> None:
        self._env = env
        self._screen = screen
        self._keyboard = Keyboard()

    def episode(self, observation: str) -> float:
        """Play an episode that has begun; return its reward."""
        hand = _shorthand(self._env.instance)
        while True:
            self._show(observation, hand)
            action = self._read() if hand is None else self._read_short(hand)
            observation, reward, terminated, truncated, info = self._env.step(action)
            if terminated or truncated:
                break
        if observation:
            self._show(observation, hand)
        verdict, reference = info["verdict"], info["reference"]
        told = f"   {verdict.status}: {verdict.score:g}  {harmless(verdict.detail)}"
        print(f"\n{told.rstrip()}")
        if hand is not None:
            self._explain(reference, hand)
        elif verdict.score < 1.0 and isinstance(reference, str):
            print(f"   an answer of full marks: {reference}")
        return reward

    def _show(self, observation: str, hand: Shorthand | None) -> None:
        print()
        if hand is None:
            print(fill(observation))
        else:
            text = hand.plain(observation)
            self._keyboard.offer(targets(text))
            self._screen.page(text)
        print()

    def _read(self) -> str:
        instance = self._env.instance
        form = answer_format(instance.format_label)
        block = instance.format_label.startswith("fenced")
        text = self._keyboard.block() if block else self._keyboard.line()
        as_it_is = instance.interactive and instance.format_label != "boxed"
        if as_it_is or form.extract(text).answer is not None:
            return text
        return form.wrap(text)

    def _read_short(self, hand: Shorthand) -> str:
        """Return an action; a slip of the finger costs nothing."""
        while True:
            line = self._keyboard.line().strip()
            action = hand.expand(line)
            if action is not None:
                return action
            if line == "?":
                self._screen.page("\n".join(f"- {short}: {does}" for short, does in hand.commands))
            elif line:
                self._screen.page("(That is no call, and nothing was sent; ? lists the calls.)")

    def _explain(self, actions: list[str], hand: Shorthand) -> None:
        """Show how the oracle would have played."""
        way = [hand.shorten(action) for action in actions]
        calls, end = len(way) - 1, hand.commands[-1][0].split()[-1]
        self._screen.page(f"   a right {end}: {way[-1].partition(' ')[2]}")
        print(f"   the oracle's way, {calls} {'call' if calls == 1 else 'calls'} and the {end}:")
        if len(way) > _FIRST + _LAST + 1:
            left_out = len(way) - _FIRST - _LAST
            way = [*way[:_FIRST], f"… {left_out} more …", *way[-_LAST:]]
        for step in way:
            print(f"     {harmless(step)}")


def _shorthand(instance: Instance) -> Shorthand | None:
    task = instance.task
    return task.shorthand(instance.problem) if isinstance(task, InteractiveTask) else None
