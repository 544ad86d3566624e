"""Evaluation: policies answer problems, and statistics say how well.

Example::

    from rlvr_envs.evaluation import evaluate

    run = evaluate("rlvr/Gcd-v0", ["oracle", "random"], difficulty=[0, 2], episodes=50)
    for group in run.summary["task"]:
        print(group.by, group.score.mean, group.score.low, group.score.high)
"""

from rlvr_envs.evaluation.matches import rate_runs
from rlvr_envs.evaluation.plan import Plan
from rlvr_envs.evaluation.policies import FunctionPolicy, make_policy
from rlvr_envs.evaluation.policy import Policy, PolicyError, PolicyOptions, Request, Response
from rlvr_envs.evaluation.ratings import Rated, RatingGroup, Ratings
from rlvr_envs.evaluation.rejudging import Change, Rejudged, rejudge
from rlvr_envs.evaluation.runner import Evaluation, Progress, evaluate, run_plan
from rlvr_envs.evaluation.summary import Group, Summary, summarise

__all__ = [
    "Change",
    "Evaluation",
    "FunctionPolicy",
    "Group",
    "Plan",
    "Policy",
    "PolicyError",
    "PolicyOptions",
    "Progress",
    "Rated",
    "RatingGroup",
    "Ratings",
    "Rejudged",
    "Request",
    "Response",
    "Summary",
    "evaluate",
    "make_policy",
    "rate_runs",
    "rejudge",
    "run_plan",
    "summarise",
]
