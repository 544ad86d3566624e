"""Where work runs: in this process, in processes of this machine, or on a Ray cluster.

Generating, judging and evaluating give their work to an `Executor`, and their results do not depend
on which one it is.
"""

from rlvr_envs.core.executor import Call, Executor, Outcome, Processes, Serial
from rlvr_envs.executors.open import EXECUTORS, open_executor

__all__ = ["EXECUTORS", "Call", "Executor", "Outcome", "Processes", "Serial", "open_executor"]
