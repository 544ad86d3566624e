#!/usr/bin/env bash
# Installs the toolchains of the languages in rlvr_envs/sandboxes/languages.toml, the simulator that
# gives a second opinion on Verilog, and numpy for the Python of sandboxes, as root on Debian or
# Ubuntu. What is there already is left alone.
#
#   scripts/install_toolchains.sh            every language, the simulator, and numpy
#   scripts/install_toolchains.sh lua ruby   only these
#   scripts/install_toolchains.sh iverilog   only the simulator, and likewise numpy
set -euo pipefail

fail() { echo "install_toolchains.sh: $*" >&2; exit 1; }

python=$(command -v python3) || fail "python3 is missing"  # it may lie elsewhere than the tools
"$python" -c 'import tomllib' 2>/dev/null || fail "$python is older than Python 3.11"

# Sandboxes show these directories only: a compiler under a home directory does not count.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd "$(dirname "$0")/.."

packages=$("$python" - "$@" <<'PYTHON'
import shutil
import subprocess
import sys
import tomllib

with open("rlvr_envs/sandboxes/languages.toml", "rb") as file:
    languages = tomllib.load(file)
known = [*languages, "iverilog", "numpy"]
unknown = set(sys.argv[1:]) - set(known)
if unknown:
    sys.exit(f"unknown languages: {' '.join(sorted(unknown))}; known: {' '.join(known)}")
for name in sys.argv[1:] or known:
    if name == "iverilog":
        if not shutil.which(name):
            print(name)
        continue
    if name == "numpy":
        python = shutil.which("python3")
        if not python or subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode:
            print("python3-numpy")
        continue
    language = languages[name]
    commands = [language[key].split() for key in ("compile", "execute") if language[key]]
    if not all(words[0].startswith("./") or shutil.which(words[0]) for words in commands):
        print(*(word for word in language["install"].split()[2:] if not word.startswith("-")))
PYTHON
)

if [ -z "$packages" ]; then
    echo "every toolchain is installed already"
    exit 0
fi
packages=$(sort -u <<<"$packages" | tr -s ' \n' ' ')
command -v apt-get >/dev/null \
    || fail "apt-get is missing; install by other means what these packages of Debian have: $packages"
[ "$(id -u)" = 0 ] || fail "only root can install; as root: apt-get install $packages"
echo "installing: $packages"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086  # one word per package
apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-unsafe-io $packages
