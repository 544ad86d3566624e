"""LIMR (arXiv 2502.11886): which problems move as the whole does, found while training goes on."""

import json
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.episode import Group
from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.files import replaced

LEARNING_IMPACT = "learning_impact.json"


def learning_impact(solved: Tensor) -> Tensor:
    """Return 1 - sum_k (a_k - m_k)^2 / sum_k (1 - m_k)^2 of each problem, (P,) (LIMR, 2502.11886).

    a_k is how often a problem was solved in epoch k, and m_k the mean of all problems. A problem
    that goes along with the mean has 1; LIMR keeps those above a threshold. Where all problems are
    always solved nothing can be told apart, and all have 1.

    Args:
        solved: (P, K), P problems and K epochs, from 0 to 1.
    """
    if solved.ndim != 2 or not solved.numel():
        raise ConfigError(f"shares of solved are (problems, epochs), got {tuple(solved.shape)}")
    mean = solved.mean(0)
    apart = (solved - mean).square().sum(1)
    scale = (1 - mean).square().sum()
    return 1 - torch.where(scale > 0, apart / scale.clamp(min=1e-12), apart)


@callback(name="learning_impact")
class LearningImpact(Callback):
    """Writes each problem's learning impact into the run's folder, as `LEARNING_IMPACT`.

    It wants problems that return, such as the rows of data sets over several epochs; those that
    came round less than the others count as far as all came. A list of task, difficulty, the
    problem's seed or index, impact and mean scores by epoch is written at the end, the greatest
    impact first.
    """

    def __init__(self) -> None:
        self._scores: dict[str, list[float]] = {}

    def on_group(self, run: Run, group: Group) -> None:
        """Take down the group's mean score."""
        posed, scores = group.posed, group.scores
        problem = posed.problem_seed if posed.problem_seed is not None else group.proposal.index
        if scores and problem is not None:
            key = json.dumps([posed.task, posed.difficulty, problem])
            self._scores.setdefault(key, []).append(sum(scores) / len(scores))

    def on_end(self, run: Run) -> None:
        """Write what was found, if any problem came back."""
        seen = {key: each for key, each in self._scores.items() if len(each) > 1}
        if not seen or not run.workers.is_main:
            return
        epochs = min(map(len, seen.values()))
        impact = learning_impact(torch.tensor([each[:epochs] for each in seen.values()])).tolist()
        rows = sorted(
            ([*json.loads(key), found, seen[key]] for key, found in zip(seen, impact, strict=True)),
            key=lambda row: -row[3],
        )
        with replaced(run.folder / LEARNING_IMPACT) as file:
            file.write(f"{json.dumps(rows)}\n".encode())

    def state_dict(self) -> dict[str, Any]:
        """Return the scores so far."""
        return {"scores": self._scores}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from the scores so far."""
        self._scores = {key: list(each) for key, each in state["scores"].items()}
