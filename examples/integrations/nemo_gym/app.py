"""Lets `gym env start` start our server: the file resources_servers/rlvr_envs/app.py."""

import os

from nemo_gym.global_config import (
    NEMO_GYM_CONFIG_PATH_ENV_VAR_NAME,
    get_first_server_config_dict,
    get_global_config_dict,
)

name = os.environ[NEMO_GYM_CONFIG_PATH_ENV_VAR_NAME]
place = get_first_server_config_dict(get_global_config_dict(), name)
command = ["rlvr", "serve", "--wire", "nemo-gym", "--host", place.host, "--port", str(place.port)]
os.execvp(command[0], command)  # noqa: S606 - the server takes the place of this process
