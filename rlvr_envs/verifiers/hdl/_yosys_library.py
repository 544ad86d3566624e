"""Loaded into the slots of the sandbox: cell definitions, which every job would parse anew.

It runs in the clean interpreter of a slot, so that it uses pyosys and nothing of this package. Jobs
name the definitions as ``techmap -map %arithmetic`` and ``techmap -map %gates``.
"""

from pathlib import Path

from pyosys import libyosys as ys

# As the pass `techmap` itself reads a file of definitions.
READ = "read_verilog -nooverwrite -noblackbox -icells"


def save(name: str, path: str) -> None:
    """Parse a file of definitions, and keep it under a name."""
    design = ys.Design()
    ys.run_pass(f'{READ} "{path}"', design)
    ys.run_pass(f"design -save {name}", design)


save("gates", f"{ys.proc_share_dirname()}techmap.v")
save("arithmetic", str(Path(__file__).with_name("arithmetic.v")))
