"""``python -m rlvr_envs`` is the command ``rlvr``."""

import sys

from rlvr_envs.cli.main import main

sys.exit(main())
