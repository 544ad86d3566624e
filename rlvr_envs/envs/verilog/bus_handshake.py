"""BusHandshake: a pipeline of stages with valid/ready handshakes."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask
from rlvr_envs.verifiers.hdl.interface import Clocking


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of a chain."""

    kind: str  # what it does with words
    before: int  # bits of a word that comes in
    after: int  # bits of a word that goes out
    factor: int  # words that are joined, parts of a word, or idle cycles
    value: int  # a constant
    place: int  # a bit of a word
    way: int  # 0 or 1, which of two variants it is


# In the order in which higher levels add them.
KINDS = ("register", "half", "map", "filter", "gap", "skid", "sum", "join", "split")
_WIDEST, _MOST_STAGES = 8, 6
_WIDEST_INSIDE = 24  # bits of a word between stages


@dataclass(frozen=True, slots=True, kw_only=True)
class BusHandshakeConfig(DesignConfig):
    """How many stages there are, and of which kinds."""

    width: int = knob(3, "width of a word at the input, in bits", low=2, high=_WIDEST)
    stages: int = knob(2, "number of stages in the chain", low=1, high=_MOST_STAGES)
    kinds: int = knob(
        4, "number of kinds of stages to draw from, the first ones of KINDS", low=2, high=len(KINDS)
    )
    last: bool = knob(False, "words come in packets; a last signal marks the end of a packet")

    @classmethod
    def at(cls, difficulty: int) -> "BusHandshakeConfig":
        """Ten levels add seven kinds; a stage and a bit come every 3, and packets at 5.

        The numbers stop at 6 stages for words of 8 bits.
        """
        return cls(
            width=min(2 + (difficulty + 2) // 3, _WIDEST),
            stages=min(1 + (difficulty + 1) // 3, _MOST_STAGES),
            kinds=min(2 + 7 * difficulty // 10, len(KINDS)),
            last=difficulty >= 5,
        )


@register("BusHandshake-v0", domain="verilog", answer_format=LANGUAGE)
class BusHandshakeTask(DesignTask[BusHandshakeConfig]):
    """Write a chain of stages that pass words on by valid/ready handshakes.

    Description:
        A word is transferred where valid and ready are both 1. The chain has registers, skid
        buffers, and stages that join words, split, change, drop or sum them, or pause. The end of
        a packet may complete a join early and begin a new sum.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For long
        chains the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        The chain gets longer, its words wider, and the kinds of its stages more.

    References:
        Arm, AMBA AXI and ACE Protocol Specification, A3.2, for the handshake; Liu et al. 2023,
        VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        kinds = KINDS[: self.config.kinds]
        width, stages = self.config.width, []
        kept = integer(rng, 0, self.config.stages - 1)  # the stage that surely keeps words
        for number in range(self.config.stages):
            fitting = [kind for kind in kinds if kind in KEEPING or number != kept]
            stages.append(_draw(rng, fitting, width))
            width = stages[-1].after
        return HandshakeSources(
            clocking=hw.draw_clocking(rng),
            stages=tuple(stages),
            last=self.config.last,
            idle=integer(rng, 0, 2**width - 1),
            sides=pick(rng, (("in", "out"), ("s", "m"), ("up", "down"), ("src", "dst"))),
        ).design()


def _draw(rng: Rng, kinds: list[str], width: int) -> Stage:
    """Draw a stage that fits words of a width."""
    parts = [k for k in (2, 3, 4) if width % k == 0]
    wider = [k for k in (2, 3, 4) if width * k <= _WIDEST_INSIDE]
    fitting = [kind for kind in kinds if (kind != "split" or parts) and (kind != "join" or wider)]
    kind = pick(rng, fitting)
    factor = pick(rng, parts) if kind == "split" else pick(rng, wider) if kind == "join" else 1
    after = {"split": width // factor, "join": width * factor}.get(kind, width)
    return Stage(
        kind=kind,
        before=width,
        after=after,
        factor=integer(rng, 1, 3) if kind == "gap" else factor,
        value=integer(rng, 1, 2**width - 1) if width > 1 else 1,
        place=integer(rng, 0, width - 1),
        way=integer(rng, 0, 1),
    )


# Chains of handshake stages in words and in two kinds of Verilog.


# Stages that keep words over a clock edge.
KEEPING = ("register", "half", "skid", "join", "split")


@dataclass(frozen=True, slots=True)
class HandshakeSources:
    """What was drawn for one chain, its rules and its sources."""

    clocking: Clocking
    stages: tuple[Stage, ...]
    last: bool
    idle: int  # at the output without a word
    sides: tuple[str, str]

    def design(self) -> hw.Design:
        """Return the design."""
        ports, before, after = self._signals(), self.stages[0].before, self.stages[-1].after
        count = len(self.stages)
        how = "a stage" if count == 1 else f"a chain of {count} stages"
        return hw.Design(
            title=f"{how} with valid/ready handshakes, from {before}-bit input words to "
            f"{after}-bit output words",
            signals=ports,
            rules=self._rules(),
            golden=hw.module(ports, self._golden()),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
        )

    def _signals(self) -> tuple[hw.Signal, ...]:
        a, b = self.sides
        signals = hw.clock_signals(self.clocking) + hw.inputs(
            (f"{a}_valid", 1, "1 while an input word is offered"),
            (f"{a}_data", self.stages[0].before, "input word"),
        )
        if self.last:
            signals += hw.inputs((f"{a}_last", 1, "1 if the input word is the last of its packet"))
        signals += hw.inputs((f"{b}_ready", 1, "1 while the receiver accepts an output word"))
        signals += hw.outputs(
            (f"{a}_ready", 1, "1 while the module accepts an input word"),
            (f"{b}_valid", 1, "1 while an output word is offered"),
            (f"{b}_data", self.stages[-1].after, "output word"),
        )
        return signals + (
            hw.outputs((f"{b}_last", 1, "1 if the output word is the last of its packet"))
            if self.last
            else ()
        )

    def _rules(self) -> tuple[str, ...]:
        a, b = self.sides
        rules = [
            (
                f"The module accepts the word `{a}_data` at each rising clock edge where "
                f"`{a}_valid` and `{a}_ready` are both 1. It delivers the word `{b}_data` at each "
                f"rising clock edge where `{b}_valid` and `{b}_ready` are both 1."
            )
        ]
        if self.last:
            rules[0] += f" A word accepted with `{a}_last` = 1 is marked as the last of its packet."
        if len(self.stages) > 1:
            rules.append(
                f"Words pass through {len(self.stages)} stages, from stage 1 to stage "
                f"{len(self.stages)}. Neighbouring stages use the same handshake: a stage offers a "
                "word (valid), and the next stage may be ready. Both signals reach the neighbour "
                "in the same cycle, and the word moves at a rising clock edge where both are 1. "
                "Stage 1 receives the input words. The last stage offers the output words. The "
                f"next stage after the last one is the receiver; it is ready while `{b}_ready` is "
                "1."
            )
            names = [f"Stage {number}" for number in range(1, len(self.stages) + 1)]
        else:
            rules.append(
                "Below, the next stage is the receiver of the output words: it is ready while "
                f"`{b}_ready` is 1."
            )
            names = ["The stage"]
        rules += [f"{n} {self._told(s)}" for n, s in zip(names, self.stages, strict=True)]
        gives = f"`{b}_data` is {hw.literal(self.stages[-1].after, self.idle)}"
        if self.last:
            rules.append(
                "The last mark stays with its word unless the rule of a stage says otherwise. "
                f"`{b}_last` is 1 if the offered output word has the mark and 0 if it has not."
            )
            gives += f" and `{b}_last` is 0"
        rules.append(f"While `{b}_valid` is 0, {gives}.")
        rules.append(
            "Reset removes all words. After reset, every stage is in its initial state, as if it "
            "had never received a word."
        )
        return tuple(rules)

    def _told(self, stage: Stage) -> str:
        """Return what a stage does, as the rest of a sentence that begins with its name."""
        sig = ("least significant", "most significant")[stage.way]
        part = "a bit" if stage.after == 1 else f"{stage.after} bits"
        close = ""
        if stage.kind == "join" and self.last:
            close = (
                " A word with the last mark completes the group early. The missing parts are then "
                "0, and the joined word has the mark."
            )
        ended = " Of a word with the mark, only the final part has the mark." if self.last else ""
        anew = (
            "the most recent word with the mark (or after reset, if there was none)"
            if self.last
            else "reset"
        )
        kept = " and that does not have the mark" if self.last else ""
        return {
            "register": "holds at most one word, and offers it from the cycle after it received "
            "it. It is ready while it is empty, and also while it holds a word and the next stage "
            "is ready.",
            "half": "holds at most one word, and offers it from the cycle after it received it. "
            "It is ready if and only if it is empty.",
            "skid": "holds at most two words, and offers the older one, at the earliest in the "
            "cycle after it received it. It is ready if and only if it holds fewer than two words.",
            "join": f"collects groups of {stage.factor} words and joins each group into one word. "
            f"The first word of a group becomes the {sig} part of the joined word, the second word "
            "the part next to it, and so on. It offers the joined word from the cycle after it "
            "received the last word of the group. It is ready while it has no complete group, and "
            f"also while it has one and the next stage is ready.{close}",
            "split": f"holds at most one word, and offers it as {stage.factor} parts of {part} "
            f"each, the {sig} part first, from the cycle after it received the word. It is ready "
            "while it is empty, and also while it offers the final part and the next stage is "
            f"ready.{ended}",
            "map": f"holds no word (it is combinational). It offers {self._map_told(stage)}, in "
            "the same cycle. It offers a word if and only if one is offered to it, and it is ready "
            "if and only if the next stage is ready.",
            "filter": "holds no word (it is combinational). It drops each word offered to it "
            f"whose bit {stage.place} is {stage.way}{kept}: it is ready for that word and offers "
            "nothing. In all other cases it offers what is offered to it, in the same cycle, and "
            "it is ready if and only if the next stage is ready.",
            "gap": f"holds no word. In the {stage.factor} cycles after an edge at which a word "
            "moved out of it, it offers nothing and is not ready. In all other cycles it offers "
            "what is offered to it, in the same cycle, and it is ready if and only if the next "
            "stage is ready.".replace("the 1 cycles", "the one cycle"),
            "sum": "holds no word, but keeps a running sum. While a word is offered to it, it "
            "offers, in the same cycle, the sum of that word and all words that moved through it "
            f"after {anew}, modulo {2**stage.after}. It is ready if and only if the next stage is "
            "ready.",
        }[stage.kind]

    def _map_told(self, stage: Stage) -> str:
        if stage.way:
            return f"the word offered to it plus {stage.value}, modulo {2**stage.after}"
        return f"the word offered to it XORed with {hw.literal(stage.before, stage.value)}"

    def _outside(self, *, kind: str) -> list[str]:
        """Return how the ends of the chain are joined to the ports."""
        a, b = self.sides
        end = len(self.stages)
        marks = [stage.before for stage in self.stages] + [self.stages[-1].after]
        lines = [f"{kind} [{width - 1}:0] d{k};" for k, width in enumerate(marks)]
        lines += [f"{kind} v{k}, r{k}, l{k};" for k in range(end + 1)]
        lines += [f"assign v0 = {a}_valid;\nassign d0 = {a}_data;\nassign {a}_ready = r0;"]
        lines.append(f"assign l0 = {f'{a}_last' if self.last else chr(49) + chr(39) + 'b0'};")
        lines.append(f"assign r{end} = {b}_ready;\nassign {b}_valid = v{end};")
        lines.append(f"assign {b}_data = v{end} ? d{end} : {hw.literal(marks[-1], self.idle)};")
        return lines + ([f"assign {b}_last = v{end} & l{end};"] if self.last else [])

    def _golden(self) -> str:
        """Return each stage with marks of what it keeps."""
        lines = self._outside(kind="wire")
        for k, stage in enumerate(self.stages):
            text, reset, body = _golden_stage(stage)
            text += "\n" + (hw.clocked(self.clocking, reset, body) if body else "")
            lines.append(_numbered(text, k))
        return "\n".join(lines)

    def _alternative(self) -> str:
        """Return each stage with pointers, vectors or opposite counts."""
        lines = self._outside(kind="logic")
        for k, stage in enumerate(self.stages):
            text, reset, body = _other_stage(stage)
            text += "\n" + (
                hw.clocked(self.clocking, reset, body, keyword="always_ff") if body else ""
            )
            lines.append(_numbered(text, k))
        return "\n".join(lines)


def _numbered(text: str, number: int) -> str:
    """Return a stage between two links: <. is the one before, >. and # the one behind it."""
    before, behind = str(number), str(number + 1)
    return text.strip().replace("#", behind).replace("<.", before).replace(">.", behind)


def _golden_stage(stage: Stage) -> tuple[str, str, str]:
    """Return a stage's declarations, its reset and its moves."""
    w, k = stage.before, stage.factor
    word, bits = f"[{w - 1}:0]", stage.factor.bit_length()
    takes = "word# <= d<.;\nmark# <= l<.;"
    keeps = f"reg {word} word#;\nreg mark#;\nassign l>. = mark#;\n"
    if stage.kind in ("register", "half"):
        ready = "!has# || r>." if stage.kind == "register" else "!has#"
        text = f"reg has#;\n{keeps}assign v>. = has#;\nassign d>. = word#;\nassign r<. = {ready};"
        move = (
            f"if (r<.) begin\n    has# <= v<.;\n    {takes.replace(chr(10), chr(10) + '    ')}\nend"
        )
        move += " else if (r>.) has# <= 0;" if stage.kind == "half" else ""
        return text, "has# <= 0;", move
    if stage.kind == "skid":
        text = (
            f"reg [1:0] n#;\nreg [{w}:0] old#, new#;\nwire in# = v<. && r<.;\n"
            "wire out# = v>. && r>.;\nassign r<. = n# != 2;\nassign v>. = n# != 0;\n"
            "assign {l>., d>.} = old#;"
        )
        move = (
            "n# <= n# + in# - out#;\nif (out#) old# <= new#;\nif (in# && n# == 1 && !out#) "
            "new# <= {l<., d<.};\nelse if (in#) old# <= {l<., d<.};"
        )
        return text, "n# <= 0;", move
    if stage.kind == "join":
        shift = f"({k - 1} - n#) * {w}" if stage.way else f"n# * {w}"
        text = (
            f"reg full#, mark#;\nreg [{bits - 1}:0] n#;\nreg [{stage.after - 1}:0] parts#;\n"
            "assign r<. = !full# || r>.;\nassign v>. = full#;\nassign d>. = parts#;\n"
            f"assign l>. = mark#;\nwire ends# = n# == {k - 1} || l<.;\n"
            f"wire [{stage.after - 1}:0] placed# = {{{stage.after - w}'d0, d<.}} << ({shift});"
        )
        move = (
            "if (v<. && r<.) begin\n    parts# <= (n# == 0 ? 0 : parts#) | placed#;\n"
            "    mark# <= l<.;\n    full# <= ends#;\n    n# <= ends# ? 0 : n# + 1;\n"
            "end else if (r>.) full# <= 0;"
        )
        return text, "full# <= 0;\nn# <= 0;", move
    if stage.kind == "split":
        part = f"[{w - 1}:{w - stage.after}]" if stage.way else f"[{stage.after - 1}:0]"
        text = (
            f"reg [{bits - 1}:0] left#;\nreg {word} word#;\nreg mark#;\nassign v>. = left# != 0;\n"
            f"assign d>. = word#{part};\nassign l>. = mark# && left# == 1;\n"
            "assign r<. = left# == 0 || left# == 1 && r>.;"
        )
        move = (
            f"if (v<. && r<.) begin\n    word# <= d<.;\n    mark# <= l<.;\n    left# <= {k};\n"
            "end else if (left# != 0 && r>.) begin\n    left# <= left# - 1;\n"
            f"    word# <= word# {'<<' if stage.way else '>>'} {stage.after};\nend"
        )
        return text, "left# <= 0;", move
    return _golden_passing(stage)


def _golden_passing(stage: Stage) -> tuple[str, str, str]:
    """Return the same for a stage that keeps no words."""
    w, k = stage.before, stage.factor
    passes = "assign v>. = v<.;\nassign r<. = r>.;\nassign l>. = l<.;\n"
    if stage.kind == "filter":
        bit = f"{'' if stage.way else '!'}d<.[{stage.place}]"
        text = (
            f"wire drop# = v<. && {bit} && !l<.;\nassign v>. = v<. && !drop#;\n"
            "assign r<. = drop# || r>.;\nassign d>. = d<.;\nassign l>. = l<.;"
        )
        return text, "", ""
    if stage.kind == "gap":
        text = (
            f"reg [{k.bit_length() - 1}:0] pause#;\nassign v>. = v<. && pause# == 0;\n"
            "assign r<. = r>. && pause# == 0;\nassign d>. = d<.;\nassign l>. = l<.;"
        )
        move = f"if (v>. && r>.) pause# <= {k};\nelse if (pause# != 0) pause# <= pause# - 1;"
        return text, "pause# <= 0;", move
    if stage.kind == "sum":
        text = f"reg [{w - 1}:0] total#;\n{passes}assign d>. = d<. + total#;"
        return text, "total# <= 0;", "if (v<. && r>.) total# <= l<. ? 0 : d>.;"
    change = f"d<. {'+' if stage.way else '^'} {hw.literal(w, stage.value)}"
    return f"{passes}assign d>. = {change};", "", ""


def _other_stage(stage: Stage) -> tuple[str, str, str]:
    """Return the same as `_golden_stage`, kept in other ways."""
    w, k = stage.before, stage.factor
    bits = stage.factor.bit_length()
    if stage.kind in ("register", "half"):
        text = (
            f"logic came#, went#;\nlogic [{w}:0] word#;\nassign v>. = came# ^ went#;\n"
            "assign {l>., d>.} = word#;\n"
            f"assign r<. = came# ~^ went#{' | r>.' if stage.kind == 'register' else ''};"
        )
        move = (
            "if (v<. & r<.) begin came# <= ~came#; word# <= {l<., d<.}; end\n"
            "if (v>. & r>.) went# <= ~went#;"
        )
        return text, "came# <= '0; went# <= '0;", move
    if stage.kind == "skid":
        text = (
            f"logic [1:0] tail#, head#, size#;\nlogic [{w}:0] even#, odd#;\n"
            "assign size# = tail# - head#;\nassign v>. = |size#;\nassign r<. = ~size#[1];\n"
            "assign {l>., d>.} = head#[0] ? odd# : even#;"
        )
        move = (
            "if (v<. & r<.) begin\n    tail# <= tail# + 1'b1;\n"
            "    if (tail#[0]) odd# <= {l<., d<.};\n    else even# <= {l<., d<.};\nend\n"
            "if (v>. & r>.) head# <= head# + 1'b1;"
        )
        return text, "tail# <= '0; head# <= '0;", move
    if stage.kind == "join":
        place = f"{k - 1} - p" if stage.way else "p"
        text = (
            f"logic done#, mark#;\nlogic [{k - 1}:0] turn#;\nlogic [{stage.after - 1}:0] parts#;\n"
            "assign r<. = ~done# | r>.;\nassign {v>., l>., d>.} = {done#, mark#, parts#};"
        )
        move = (
            f"if (v<. & r<.) begin\n    for (int p = 0; p < {k}; p++)\n"
            f"        if (turn#[p]) parts#[({place}) * {w} +: {w}] <= d<.;\n"
            f"        else if (turn#[0]) parts#[({place}) * {w} +: {w}] <= '0;\n"
            f"    mark# <= l<.; done# <= turn#[{k - 1}] | l<.;\n"
            f"    turn# <= turn#[{k - 1}] | l<. ? {k}'d1 : turn# << 1;\n"
            "end else if (r>.) done# <= 1'b0;"
        )
        return text, f"done# <= '0; turn# <= {k}'d1;", move
    if stage.kind == "split":
        place = f"{k - 1} - at#" if stage.way else "at#"
        text = (
            f"logic busy#, mark#, end#;\nlogic [{bits - 1}:0] at#;\nlogic [{w - 1}:0] word#;\n"
            f"assign end# = at# == {k - 1};\nassign v>. = busy#;\nassign l>. = mark# & end#;\n"
            f"assign d>. = word#[({place}) * {stage.after} +: {stage.after}];\n"
            "assign r<. = ~busy# | (end# & r>.);"
        )
        move = (
            "if (v<. & r<.) begin busy# <= 1'b1; at# <= '0; word# <= d<.; mark# <= l<.; end\n"
            "else if (busy# & r>.) begin busy# <= ~end#; at# <= at# + 1'b1; end"
        )
        return text, "busy# <= '0; at# <= '0;", move
    return _other_passing(stage)


def _other_passing(stage: Stage) -> tuple[str, str, str]:
    """Return the same as `_golden_passing`, another way."""
    w, k = stage.before, stage.factor
    passes = "assign {v>., l>.} = {v<., l<.};\nassign r<. = r>.;\n"
    if stage.kind == "filter":
        mask, level = hw.literal(w, 1 << stage.place), hw.literal(w, stage.way << stage.place)
        text = (
            f"logic keep#;\nassign keep# = l<. | (d<. & {mask}) != {level};\n"
            f"assign v>. = v<. & keep#;\nassign r<. = v<. & ~keep# ? 1'b1 : r>.;\n"
            "assign {l>., d>.} = {l<., d<.};"
        )
        return text, "", ""
    if stage.kind == "gap":
        text = (
            f"logic [{k - 1}:0] past#;\nassign v>. = v<. & ~|past#;\nassign r<. = r>. & ~|past#;\n"
            "assign {l>., d>.} = {l<., d<.};"
        )
        return text, "past# <= '0;", f"past# <= {k}'({{past#, v>. & r>.}});"
    if stage.kind == "sum":
        text = f"logic [{w - 1}:0] minus#;\n{passes}assign d>. = d<. - minus#;"
        return text, "minus# <= '0;", "if (v<. & r<.) minus# <= l<. ? '0 : -d>.;"
    value = hw.literal(w, stage.value)
    change = f"(d<. & ~{value}) | (~d<. & {value})"
    if stage.way:
        change = f"d<. - {hw.literal(w, 2**w - stage.value)}"
    return f"{passes}assign d>. = {change};", "", ""
