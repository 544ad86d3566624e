"""Serve an id by openenv's own server, as an environment on its hub does.

python openenv_app.py [PORT]
"""

import sys
from functools import partial

import uvicorn
from openenv.core.env_server.http_server import create_app

from rlvr_envs.integrations.openenv import RlvrAction, RlvrEnvironment, RlvrObservation, RlvrState

app = create_app(
    partial(RlvrEnvironment, "GuessNumber-v0", difficulty=0),
    RlvrAction,
    RlvrObservation,
    env_name="GuessNumber-v0",
    max_concurrent_envs=2,
    state_cls=RlvrState,
)

if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
