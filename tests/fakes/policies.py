"""Policies that another process can import."""

import os
import signal
from pathlib import Path

from rlvr_envs.core.errors import ToolchainMissing
from rlvr_envs.evaluation import Policy, Response


class Mortal(Policy):
    """Kills its process at some problem seeds, as long as a file is not there."""

    def __init__(self, seeds, healed):
        super().__init__("mortal")
        self.seeds, self.healed = frozenset(seeds), Path(healed)

    async def act(self, request):
        if request.instance.problem_seed in self.seeds and not self.healed.exists():
            os.kill(os.getpid(), signal.SIGKILL)
        return Response(request.instance.solution())


class Lacking(Policy):
    """Needs a program that is not there."""

    async def act(self, request):
        raise ToolchainMissing("apt-get install abacus")


class Faulty(Policy):
    """Has a bug."""

    async def act(self, request):
        return Response(request.instance.nonsense)
