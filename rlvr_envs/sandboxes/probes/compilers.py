"""Probes of compilers, which read what a hostile source tells them to."""

from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Job, Limits, Result, RunStatus
from rlvr_envs.sandboxes.probes.bench import (
    CALM,
    Bench,
    Probes,
    account,
    first,
    honest,
    let_through,
    token,
)
from rlvr_envs.sandboxes.probes.host import survivors

_probes = Probes()
probe = _probes.probe
PROBES = _probes.all


@probe
def compiler_reads(bench: Bench) -> str:
    """The compiler cannot read files of the host, nor show them in its messages."""
    path = str(bench.host.files[0])
    include = f'#include "/etc/shadow"\n#include "{path}"\nint main(void) {{ return 0; }}\n'
    embed = f'__asm__(".incbin \\"{path}\\"");\nint main(void) {{ return 0; }}\n'
    for text in (include, embed):
        result = _compile(bench, text)
        written = result.stdout + result.stderr
        if bench.host.secret.encode() in written or b"root:" in written:
            return "the compiler showed a file of the host"
        if result.status is not RunStatus.COMPILE_ERROR:
            return f"the compiler read a file of the host: {account(result)}"
    return honest(bench.python("say('END')"), b"END\n")


@probe
def compiler_at_run_time(bench: Bench) -> str:
    """A compiled program cannot run the compiler, nor any other program of the machine."""
    source = """
        #include <errno.h>
        #include <stdio.h>
        #include <unistd.h>
        int main(void) {
            const char *paths[] = {"/usr/bin/gcc", "/usr/bin/python3", "/bin/sh", "/usr/bin/node"};
            for (int i = 0; i < 4; i++) {
                execl(paths[i], paths[i], "--version", (char *)0);
                printf("%s: denied %s\\n", paths[i], errno == EACCES ? "EACCES" : "ENOENT");
            }
            puts("END");
        }
    """
    result = bench.sandbox.run(languages.find("c").job(source))
    return let_through(result)


@probe
def compiler_bomb(bench: Bench) -> str:
    """A source that makes the compiler work for ever, or fill memory, ends as a compile error."""
    macro = "#define A0 1+1+1+1\n" + "".join(
        f"#define A{i} A{i - 1}+A{i - 1}+A{i - 1}+A{i - 1}\n" for i in range(1, 16)
    )
    limits = Limits(cpu_s=1.0, wall_s=20, memory_mib=256, processes=32, file_mib=16)
    for text in (
        macro + "int main(void) { return A15; }",
        "#include __FILE__\n#include __FILE__\n",
    ):
        result = _compile(bench, text, limits)
        if result.status is not RunStatus.COMPILE_ERROR:
            return f"expected compile_error, got {account(result)}"
    return honest(bench.python("say('END')"), b"END\n")


@probe
def compiler_leaves_nothing_running(bench: Bench) -> str:
    """A process that the compile command started does not change what is run later."""
    name = token()
    loop = f"while :; do echo 'echo changed' > main.sh; sleep 0.01; done' {name}"
    script = f"echo 'sleep 0.3; echo END' > main.sh; (setsid sh -c '{loop} &) >/dev/null 2>&1"
    job = Job(
        argv=("/bin/sh", "main.sh"),
        compile=("/bin/sh", "-c", script),
        files={"main.c": b""},
        limits=CALM,
    )
    return first(honest(bench.sandbox.run(job), b"END\n"), survivors(name))


def _compile(bench: Bench, source: str, limits: Limits | None = None) -> Result:
    return bench.sandbox.run(
        Job(
            argv=("./main",),
            compile=("gcc", "-o", "main", "main.c"),
            files={"main.c": source.encode()},
            compile_limits=limits or Limits(cpu_s=10, wall_s=60, processes=32, memory_mib=512),
        )
    )
