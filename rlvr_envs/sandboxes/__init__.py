r"""Where code that a model wrote runs: never in our own process, always within stated limits.

>>> job = Job(script="main.py", files={"main.py": b"print(6 * 7)"}, limits=Limits(cpu_s=1))
>>> with Sandbox() as sandbox:
...     sandbox.run(job).stdout
b'42\n'
"""

from rlvr_envs.sandboxes.base import Case, Job, Limits, Result, RunStatus
from rlvr_envs.sandboxes.sandbox import Sandbox

__all__ = ["Case", "Job", "Limits", "Result", "RunStatus", "Sandbox"]
