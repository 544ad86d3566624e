"""`rlvr completion`: the shells themselves complete what a user begins."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time

import pytest

from rlvr_envs.cli.main import main

PATIENCE_S = 120.0

# What is typed, and something that completes it.
TYPED = [
    ("rlvr pl", "plot"),
    ("rlvr show --diff", "--difficulty"),
    ("rlvr show Gc", "Gcd-v0"),
    ("rlvr eval Gcd-v0 --policy or", "oracle"),
    ("rlvr list --domain np", "np_hard"),
    ("rlvr bench fr", "freeze"),
    ("rlvr verify rows.j", "rows.jsonl"),
    ("rlvr completion f", "fish"),
]
OF_TRAIN = [
    ("rlvr train dap", "dapo"),
    ("rlvr train grpo --tasks Gc", "Gcd-v0"),
    ("rlvr train grpo --learning", "--learning-rate"),
    ("rlvr train --device cu", "cuda"),
    ("rlvr bench run ti", "tiny-v1"),
]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The scripts of all shells, in a folder with a file of rows."""
    pytest.importorskip("shtab", reason="shtab (the extra completion) writes the scripts")
    folder = tmp_path_factory.mktemp("completion")
    (folder / "rows.jsonl").touch()
    program = """if True:
        import contextlib, sys
        from rlvr_envs.cli.main import main
        for shell in ("bash", "zsh", "fish"):
            with open(f"script.{shell}", "w") as file, contextlib.redirect_stdout(file):
                main(["completion", shell])
    """
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)
    return folder


def needed(shell):
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed here")
    return found


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()


def typed_here():
    try:
        import torch  # noqa: F401
        import tyro  # noqa: F401
    except ImportError:
        return TYPED
    return TYPED + OF_TRAIN


@pytest.mark.parametrize(("typed", "wanted"), typed_here())
def test_bash(scripts, typed, wanted):
    program = f"""
        . ./script.bash
        COMP_WORDS=({typed}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_LINE="{typed}"
        COMP_POINT=${{#COMP_LINE}}
        function=$(complete -p rlvr | sed 's/.*-F \\([^ ]*\\).*/\\1/')
        "$function"
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    assert wanted in run([needed("bash"), "--norc", "-c", program], scripts)


@pytest.mark.parametrize(("typed", "wanted"), typed_here())
def test_fish(scripts, typed, wanted):
    program = f'source script.fish; complete -C "{typed}"'
    assert wanted in run([needed("fish"), "--no-config", "-c", program], scripts)


@pytest.mark.parametrize(
    ("typed", "completed"), [("rlvr show Gc", "rlvr show Gcd-v0"), ("rlvr bench fr", "freeze")]
)
def test_zsh(scripts, typed, completed):
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(scripts)
        os.environ.update(TERM="dumb", PS1="")
        os.execv(needed("zsh"), ["zsh", "-f", "-i"])
    begin = "autoload -Uz compinit; compinit -u -D; . ./script.zsh; compdef _shtab_rlvr rlvr"
    try:
        # The word is not whole in what is typed, so its echo is not taken for it.
        seen = until(terminal, "ready-now", f"{begin}; echo ready'-'now\n")
        assert "ready-now" in seen
        assert completed in until(terminal, completed, f"{typed}\t")
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(terminal)


def until(terminal, text, typed):
    os.write(terminal, typed.encode())
    seen, end = "", time.monotonic() + PATIENCE_S
    while text not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 65_536).decode(errors="replace")
    return seen


def test_without_shtab_the_extra_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("rlvr completion: shell completion needs shtab: ")
    assert told.err.count("\n") == 1


def test_a_shell_that_there_is_not(capsys):
    with pytest.raises(SystemExit) as end:
        main(["completion", "fsh"])
    assert end.value.code == 2
    assert "did you mean 'fish'? (known: bash, zsh, fish)" in capsys.readouterr().err
