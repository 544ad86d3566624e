"""Search self-play: a proposer earns what a solver of the user's own leaves it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, DependencyError, did_you_mean
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.verifiers import retrieval
from rlvr_envs.wrappers.shaping import check_wraps_text

Solver = Callable[[str, Mapping[str, Any]], str]
Reader = Callable[[str, Sequence[Mapping[str, str]]], str]
REWARDS = ("one_minus", "intermediate")


@runtime_checkable
class Proposes(Protocol):
    """A task whose last action is a question for somebody else.

    With an attribute ``proven`` that is False it says that a question which passes its filters may
    have another answer, or none.
    """

    def proposal(
        self, problem: Any, action: str, before: Sequence[str] = ()
    ) -> dict[str, Any] | None:
        """Return `question`, `answers`, `hops`, `evidence` and `row`, None where it is not valid.

        ``before`` holds the earlier actions of the episode.
        """


class SelfPlay(gymnasium.Wrapper[str, str, str, str], RecordConstructorArgs):
    """Puts a valid question to a solver and pays the proposer by how often it fails.

    At the end of an episode with a valid question the solver is asked ``attempts`` times, and each
    answer is compared with every name of the gold answer. With p for the share of right ones, the
    reward is 1 - p (``one_minus``), or 4 * (left + p) * (right - p) for 0 < p < 1 and else 0
    (``intermediate``), as in Search Self-play (arXiv 2510.18821). A question that is not valid
    never reaches the solver.

    Where the task cannot prove that a question has its answer, as with a corpus of your own, a
    ``reader`` can judge that: it is asked once, with the question and the pages of the evidence.
    If its answer is not the gold one, the question counts as not valid, and no solver is asked.
    Without a reader such a task is only played with a reward that pays nothing for p = 0:
    otherwise questions without an answer would earn most.

    Only with a valid question there is ``info["proposal"]``, a dict:

    - ``question``, ``answers`` (the accepted names of the gold answer), ``hops``;
    - ``row``: the question as a row of a search task over the same world, which a second agent
      plays with ``gym.make(row["id"]).reset(options={"problem": row})``;
    - ``evidence``: the pages behind the answer, each with ``id``, ``title`` and ``text``;
    - ``reader_answer``, with a reader;
    - ``solver_answers`` and ``solver_accuracy``, the p of the formulas, unless the reader failed.

    ``info["reward_parts"]`` is ``{"self_play": reward}``; wrappers around this one go on from it.
    ``info["verdict"]`` stays that of the task, with one exception. A solver or a reader that
    raises, or returns no text, is a fault of the machinery: the reward is 0, ``info["scored"]`` is
    False and the verdict a ``verifier_error`` that says what happened.

    Args:
        env: an environment of a task with proposals, such as ``rlvr/SearchProposer-v0``.
        solver: called with the question and the row, which it must not change; returns an answer
            as text. Its randomness is its own, so attempts may differ.
        attempts: how often it is asked.
        reward: one of `REWARDS`.
        left: of ``intermediate``: what is added to p.
        right: of ``intermediate``: what p is taken from.
        invalid_reward: of an episode without a valid question; the paper's code has a penalty
            there, for example -1.
        reader: called with the question and the evidence, which it must not change; returns an
            answer as text.

    Raises:
        ConfigError: an argument is out of range, the task has no proposals, or it cannot prove
            its questions and there is neither a reader nor a reward that is 0 for p = 0.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import SelfPlay
        >>> def solver(question, row):
        ...     return "nobody"
        >>> env = SelfPlay(gymnasium.make("rlvr/SearchProposer-v0", difficulty=0), solver)
        >>> prompt, info = env.reset(seed=0)
        >>> env.step("no question")[1]
        0.0
    """

    def __init__(  # noqa: PLR0913 - every argument is the user's, and most are keywords
        self,
        env: gymnasium.Env[str, str],
        solver: Solver,
        *,
        attempts: int = 5,
        reward: str = "one_minus",
        left: float = 0.0,
        right: float = 1.0,
        invalid_reward: float = 0.0,
        reader: Reader | None = None,
    ) -> None:
        RecordConstructorArgs.__init__(
            self,
            _disable_deepcopy=True,  # a solver may hold a model or a connection
            solver=solver,
            attempts=attempts,
            reward=reward,
            left=left,
            right=right,
            invalid_reward=invalid_reward,
            reader=reader,
        )
        super().__init__(env)
        check_wraps_text(self, env.unwrapped)
        if not callable(solver):
            raise ConfigError(f"a solver is called with a question and a row, got {solver!r:.80}")
        if reader is not None and not callable(reader):
            raise ConfigError(f"a reader is called with a question and pages, got {reader!r:.80}")
        if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
            raise ConfigError(f"attempts is an integer from 1, got {attempts!r}")
        if reward not in REWARDS:
            hint = did_you_mean(str(reward), REWARDS)
            raise ConfigError(f"reward is one of {', '.join(REWARDS)}, got {reward!r}{hint}")
        self._solver = solver
        self._attempts = attempts
        self._reward = reward
        self._bounds = (left, right)
        self._invalid_reward = float(invalid_reward)
        self._reader = reader
        self._before: list[str] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem, which has to be one of proposing."""
        prompt, info = self.env.reset(seed=seed, options=options)
        self._before = []
        proven = getattr(self._task(), "proven", True)
        if not proven and self._reader is None and self._reward == "one_minus":
            raise ConfigError(
                f"{self._text_env.instance.spec.id} cannot prove that a question has its answer, "
                "so reward='one_minus' would pay most for questions without one: give a reader= "
                "that answers from the evidence, or use reward='intermediate'"
            )
        return prompt, info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the agent's text; the reward of the last step is what the solver leaves."""
        text, earned, terminated, truncated, info = self.env.step(action)
        if not (terminated or truncated):
            self._before.append(action)
            return text, float(earned), terminated, truncated, info
        proposal = self._proposal(info["verdict"], action)
        reward, fault = self._earned(info["verdict"], proposal)
        if proposal is not None:
            info = {**info, "proposal": proposal}
        if fault:
            info = {**info, "verdict": Verdict.verifier_error(fault), "scored": False}
        return text, reward, terminated, truncated, {**info, "reward_parts": {"self_play": reward}}

    def _proposal(self, verdict: Verdict, action: str) -> dict[str, Any] | None:
        """Return the question of the last action with what a solver needs, None if not valid."""
        if not verdict.scored or verdict.parts.get("valid") != 1.0:
            return None
        return self._task().proposal(self._text_env.instance.problem, action, self._before)

    def _earned(self, verdict: Verdict, proposal: dict[str, Any] | None) -> tuple[float, str]:
        """Return the reward, and what broke while it was worked out."""
        if not verdict.scored:
            return 0.0, ""
        if proposal is None:
            return self._invalid_reward, ""
        fault = self._read(proposal) or self._solve(proposal)
        if fault:
            return 0.0, fault
        if "solver_accuracy" not in proposal:
            return self._invalid_reward, ""
        return proposer_reward(proposal["solver_accuracy"], self._reward, *self._bounds), ""

    @property
    def _text_env(self) -> TextEnv:
        base: Any = self.env.unwrapped
        return base  # type: ignore[no-any-return]  # checked when it was wrapped

    def _task(self) -> Proposes:
        """Return the task of the running episode."""
        instance = self._text_env.instance
        if not isinstance(instance.task, Proposes):
            raise ConfigError(
                f"SelfPlay needs a task with proposals, such as rlvr/SearchProposer-v0; "
                f"{instance.spec.id} has none"
            )
        return instance.task

    def _read(self, proposal: dict[str, Any]) -> str:
        """Ask the reader, if there is one, and book its answer; return what broke."""
        if self._reader is None:
            return ""
        answer, fault = _asked(
            "reader", "", self._reader, proposal["question"], proposal["evidence"]
        )
        proposal["reader_answer"] = answer
        return fault

    def _solve(self, proposal: dict[str, Any]) -> str:
        """Ask the solver, and book its answers; return what broke, empty for nothing.

        A question that the reader could not answer is left alone.
        """
        accepted = proposal["answers"]
        if "reader_answer" in proposal and not _is_right(proposal["reader_answer"], accepted):
            return ""
        answers: list[str] = []
        for attempt in range(1, self._attempts + 1):
            where = f" in attempt {attempt}"
            answer, fault = _asked(
                "solver", where, self._solver, proposal["question"], proposal["row"]
            )
            if fault:
                return fault
            answers.append(answer)
        right = sum(_is_right(answer, accepted) for answer in answers)
        proposal["solver_answers"] = answers
        proposal["solver_accuracy"] = right / len(answers)
        return ""


def _is_right(answer: str, accepted: Sequence[str]) -> bool:
    return retrieval.exact(answer, accepted).score == 1.0


def _asked(who: str, where: str, ask: Callable[..., Any], *arguments: Any) -> tuple[str, str]:
    """Return the answer of a callable of the user, and what broke, empty for nothing."""
    try:
        answer = ask(*arguments)
    except DependencyError:  # nothing can be solved here before something is installed
        raise
    except Exception as error:  # noqa: BLE001 - whatever broke, the proposer is not to blame
        return "", f"the {who} failed{where}: {type(error).__name__}: {error}"
    if not isinstance(answer, str):
        return "", f"the {who} returned {answer!r:.80}{where}, not text"
    return answer, ""


def proposer_reward(
    accuracy: float, reward: str = "one_minus", left: float = 0.0, right: float = 1.0
) -> float:
    """Return what a proposer earns for a valid question that a solver answers so often."""
    if reward == "one_minus":
        return 1.0 - accuracy
    return 4.0 * (left + accuracy) * (right - accuracy) if 0.0 < accuracy < 1.0 else 0.0
