"""ErrorCode: parity bits, and codes that correct one wrong bit and detect two."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware.design import Design, Signal, inputs, module, outputs, sv_module
from rlvr_envs.generators.hardware.tables import listed, table
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_WIDEST = 16


KINDS = ("check", "parity", "encode", "syndrome", "correct", "double", "rewrite")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCodeConfig(DesignConfig):
    """How long the data word is, and what is done with the code."""

    size: int = knob(5, "width of the data word, in bits", low=3, high=_WIDEST)
    kind: str = knob(
        "encode",
        "what the module does: check, parity, encode, syndrome, correct, double, or rewrite",
        choices=KINDS,
    )

    @classmethod
    def at(cls, difficulty: int) -> "ErrorCodeConfig":
        """Five levels bring three kinds of modules and two bits, up to 16."""
        return cls(
            size=min(6 + (2 * difficulty + 3) // 5, _WIDEST),
            kind=KINDS[min((3 * difficulty + 1) // 5, len(KINDS) - 1)],
        )


@register("ErrorCode-v0", domain="verilog", answer_format=LANGUAGE)
class ErrorCodeTask(DesignTask[ErrorCodeConfig]):
    """Write an encoder, a checker or a decoder of a random code.

    Description:
        Small problems make or check a parity bit over some bits of a word. Larger ones have
        several check bits, each over random data bits, some of them inverted, and a code word
        whose bits are in a random order. They encode, compute the syndrome, correct a wrong bit,
        detect two wrong bits with an overall parity, and re-encode the word.

    Observation:
        What the module does in numbered rules or prose, its ports, and a table of the checks.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). What happens
        to words with more wrong bits than the code can correct is part of the rules.

    Difficulty:
        Words get longer, and encoders become decoders with more outputs.

    References:
        Hamming 1950, Error detecting and error correcting codes; Hsiao 1970, A class of optimal
        minimum odd-weight-column SEC-DED codes.
    """

    def design(self, rng: Rng) -> Design:
        size, kind = self.config.size, self.config.kind
        plain = kind in ("parity", "check")
        checks = 1 if plain else 3
        while not plain and 2**checks - checks - 1 < size:
            checks += 1
        if plain:
            covered = 0
            while covered.bit_count() < 2:
                covered = integer(rng, 1, 2**size - 1)
            columns = tuple(covered >> i & 1 for i in range(size))
        else:
            columns = draw_columns(rng, size, checks)
        length = size + checks + (kind in ("double", "rewrite"))
        turned = shuffled(rng, length)
        return Code(
            kind=kind,
            size=size,
            columns=columns,
            checks=checks,
            odd=integer(rng, 0, 2**checks - 1),
            overall_odd=integer(rng, 0, 1),
            order=turned if not plain else tuple(range(length)),
            telling=integer(rng, 0, 1),
            names=(pick(rng, ("x", "din", "word")), pick(rng, ("y", "dout", "out"))),
        ).design()


# Codes that find and correct wrong bits, each in two ways.


@dataclass(frozen=True, slots=True)
class Code:
    """A linear code: each bit of the data takes part in some check bits.

    Attributes:
        kind: what the module does, one of `KINDS`.
        size: bits of data.
        columns: for each bit of data the check bits that it takes part in, as bits of a number.
        checks: check bits, without the one over the whole word.
        odd: check bits that are inverted, as bits of a number.
        overall_odd: whether the check over the whole word is inverted.
        order: for each bit of the code word, from bit 0 on, which bit it is: data first, then
            check bits, then the one over the whole word.
        telling: 0 for a table of what each check bit covers, 1 for a table of what each bit of
            data takes part in.
        names: of the input and the output.
    """

    kind: str
    size: int
    columns: tuple[int, ...]
    checks: int
    odd: int
    overall_odd: int
    order: tuple[int, ...]
    telling: int
    names: tuple[str, str]

    @property
    def overall(self) -> bool:
        """Whether there is a check bit over the whole word."""
        return self.kind in ("double", "rewrite")

    @property
    def length(self) -> int:
        """Bits of a code word."""
        return self.size + self.checks + self.overall

    def design(self) -> Design:
        """Return the design."""
        signals = self._signals()
        return Design(
            title=self._title(),
            signals=signals,
            rules=self._rules(),
            golden=module(signals, self._golden(), registers=self._registers()),
            alternative=sv_module(signals, self._alternative()),
            figure=self._figure(),
        )

    def _signals(self) -> tuple[Signal, ...]:
        x, y = self.names
        if self.kind in ("parity", "encode"):
            return inputs((x, self.size, "data word")) + outputs((y, self.length, "code word"))
        word = inputs((x, self.length, "received code word, which may have wrong bits"))
        if self.kind == "check":
            meaning = "1 for each check that fails" if self.checks > 1 else "1 if the check fails"
            return word + outputs(("error", self.checks, meaning))
        if self.kind == "syndrome":
            return word + outputs((y, self.size, "data bits as received")) + self._syndrome()
        if self.kind == "rewrite":
            word += inputs(
                ("flip", self.length, "bits to invert first"),
                ("raw", 1, "1 disables the correction"),
            )
        result = outputs((y, self.size, "corrected data word")) + self._syndrome()
        if self.overall:
            result += outputs(("single", 1, "1 if a single-bit error was detected"))
            result += outputs(("double", 1, "1 if a double-bit error was detected"))
        else:
            result += outputs(("bad", 1, "1 if any check fails"))
        if self.kind == "rewrite":
            result += outputs(("again", self.length, "re-encoded code word"))
        return word + result

    def _syndrome(self) -> tuple[Signal, ...]:
        return outputs(("syndrome", self.checks, "1 for each check that fails"))

    def _registers(self) -> tuple[str, ...]:
        return (self.names[1],) if self.kind in ("correct", "double", "rewrite") else ()

    def _title(self) -> str:
        what = {
            "parity": "a parity generator",
            "check": "a parity checker",
            "encode": "an encoder for an error-correcting code",
            "syndrome": "a syndrome calculator for an error-correcting code",
            "correct": "a decoder that corrects one wrong bit",
            "double": "a decoder that corrects one wrong bit and detects two",
            "rewrite": "a decoder that corrects one wrong bit, detects two and re-encodes the word",
        }
        return f"{what[self.kind]} ({self.size} data bits)"

    def _rules(self) -> tuple[str, ...]:
        x, y = self.names
        rules = [self._word_rule()]
        rules.append(self._check_rule())
        if self.overall:
            odd = "odd" if self.overall_odd else "even"
            rules.append(
                f"Bit p is chosen so that the whole code word w has an {odd} number of ones."
            )
        if self.kind in ("parity", "encode"):
            rules.append(f"`{y}` is the code word w for the data `{x}`.")
            return tuple(rules)
        received = f"`{x}`"
        if self.kind == "rewrite":
            rules.append(f"The received word is v = `{x}` XOR `flip`.")
            received = "v"
        which = "error" if self.kind == "check" else "syndrome"
        index = "[j]" if self.checks > 1 else ""
        about = "cj" if self.checks > 1 else "c0"
        rules.append(
            f"`{which}{index}` is 1 if and only if {about} in {received} differs from the value "
            f"that the rule above gives for the data bits in {received}."
        )
        if self.kind == "syndrome":
            rules.append(f"`{y}` is the data bits d{self.size - 1} to d0 in {received}, unchanged.")
        if self.kind not in ("check", "syndrome"):
            rules += self._repair_rules(received)
        return tuple(rules)

    def _word_rule(self) -> str:
        places = ", ".join(self._label(bit) for bit in reversed(self.order))
        checks = "check bits c0" + (f" to c{self.checks - 1}" if self.checks > 1 else "")
        if self.checks == 1:
            checks = "the check bit c0"
        data = f"data bits d0 to d{self.size - 1}"
        checks = f"{checks}, and the overall bit p" if self.overall else f"and {checks}"
        return (
            f"A code word w has {self.length} bits: {data}, where d0 is bit 0 of the data, "
            f"{checks}. From the most significant bit of w to the least significant, they are "
            f"{places}."
        )

    def _label(self, bit: int) -> str:
        if bit < self.size:
            return f"d{bit}"
        return f"c{bit - self.size}" if bit < self.size + self.checks else "p"

    def _check_rule(self) -> str:
        odd = [f"c{j}" for j in range(self.checks) if self.odd >> j & 1]
        if self.checks == 1:
            parity = "odd" if odd else "even"
            return (
                f"The check bit c0 makes the number of ones among c0 and the data bits that it "
                f"covers {parity}. The table lists the data bits that it covers."
            )
        rule = "Check bit cj is the XOR of the data bits that it covers; see the table"
        if odd:
            verb = "is" if len(odd) == 1 else "are"
            rule += f". As an exception, {listed(odd)} {verb} the inverted XOR"
        return rule + "."

    def _repair_rules(self, received: str) -> list[str]:
        y = self.names[1]
        matches = f"the checks that fail are exactly those that cover data bit i of {received}"
        rules = []
        if self.overall:
            parity = "even" if self.overall_odd else "odd"
            rules += [
                (
                    f"`single` is 1 if and only if the number of ones in {received} (including p) "
                    f"is {parity}. `double` is 1 if and only if `single` is 0 and `syndrome` is "
                    "not 0."
                ),
                (
                    f"If `single` is 1 and {matches}, bit i of `{y}` is the inverse of that data "
                    f"bit. All other bits of `{y}` are the data bits as they are in {received}."
                ),
            ]
        else:
            rules += [
                "`bad` is 1 if and only if `syndrome` is not 0.",
                (
                    f"If {matches}, bit i of `{y}` is the inverse of that data bit. All other bits "
                    f"of `{y}` are the data bits as they are in {received}."
                ),
            ]
        if self.kind == "rewrite":
            rules[1] = rules[1].replace("If `single`", "If `raw` is 0, `single`")
            rules.append(
                f"`again` is v if `double` is 1, and otherwise the code word for the data on `{y}`."
            )
        return rules

    def _figure(self) -> str:
        if self.telling and self.checks > 1:
            rows = [
                (f"d{i}", ", ".join(f"c{j}" for j in range(self.checks) if column >> j & 1))
                for i, column in enumerate(self.columns)
            ]
            return table(["data bit", "is covered by"], rows)
        covered = [
            (f"c{j}", ", ".join(f"d{i}" for i in range(self.size) if self.columns[i] >> j & 1))
            for j in range(self.checks)
        ]
        return table(["check bit", "covers"], covered)

    def _place(self, bit: int) -> int:
        return self.order.index(bit)

    def _encoded(self, result: str, data: str, mark: str) -> list[str]:
        """Return assignments of a code word, with one exclusive OR for each check bit."""
        lines = [f"wire [{self.length - 1}:0] w{mark};"]
        for i in range(self.size):
            lines.append(f"assign w{mark}[{self._place(i)}] = {data}[{i}];")
        for j in range(self.checks):
            terms = [f"{data}[{i}]" for i in range(self.size) if self.columns[i] >> j & 1]
            terms += ["1'b1"] * (self.odd >> j & 1)
            lines.append(f"assign w{mark}[{self._place(self.size + j)}] = {' ^ '.join(terms)};")
        if self.overall:
            last = self._place(self.length - 1)
            rest = [f"w{mark}[{k}]" for k in range(self.length) if k != last]
            rest += ["1'b1"] * self.overall_odd
            lines.append(f"assign w{mark}[{last}] = {' ^ '.join(rest)};")
        return [*lines, f"assign {result} = w{mark};"]

    def _golden(self) -> str:
        """Return check bits one by one, and a case over the failed checks."""
        x, y = self.names
        if self.kind in ("parity", "encode"):
            return "\n".join(self._encoded(y, x, ""))
        received = f"{x} ^ flip" if self.kind == "rewrite" else x
        fails = "error" if self.kind == "check" else "syndrome"
        data = ", ".join(f"v[{self._place(i)}]" for i in reversed(range(self.size)))
        lines = [
            f"wire [{self.length - 1}:0] v = {received};",
            f"wire [{self.size - 1}:0] d = {{{data}}};",
        ]
        for j in range(self.checks):
            index = f"[{j}]" if self.checks > 1 else ""
            terms = [f"d[{i}]" for i in range(self.size) if self.columns[i] >> j & 1]
            terms += ["1'b1"] * (self.odd >> j & 1)
            place = self._place(self.size + j)
            lines.append(f"assign {fails}{index} = v[{place}] ^ {' ^ '.join(terms)};")
        if self.kind == "syndrome":
            lines.append(f"assign {y} = d;")
        if self.kind in ("check", "syndrome"):
            return "\n".join(lines)
        return "\n".join([*lines, *self._repair()])

    def _repair(self) -> list[str]:
        y = self.names[1]
        cases = [
            f"        {self.checks}'d{column}: {y}[{i}] = !d[{i}];"
            for i, column in enumerate(self.columns)
        ]
        condition = "1'b1"
        lines = []
        if self.overall:
            lines += [
                f"assign single = ^v{' ^ 1' if self.overall_odd else ''};",
                "assign double = !single && syndrome != 0;",
            ]
            condition = "single && !raw" if self.kind == "rewrite" else "single"
        else:
            lines.append("assign bad = syndrome != 0;")
        lines += [
            f"always @(*) begin\n    {y} = d;\n    if ({condition}) case (syndrome)",
            *cases,
            "        default: ;\n    endcase\nend",
        ]
        if self.kind == "rewrite":
            lines += self._encoded("fresh", y, "_new")
            lines.insert(0, f"wire [{self.length - 1}:0] fresh;")
            lines.append("assign again = double ? v : fresh;")
        return lines

    def _alternative(self) -> str:
        """Return checks as parities under masks, and errors as whole words."""
        x, y = self.names
        kind, top = self.kind, self.length - 1
        text = f"typedef logic [{top}:0] word_t;\n{self._placing()}"
        if kind in ("parity", "encode"):
            return f"{text}assign {y} = coded({x});"
        received = f"{x} ^ flip" if kind == "rewrite" else x
        picked = ", ".join(f"v[{self._place(i)}]" for i in reversed(range(self.size)))
        checks = ", ".join(
            f"gap[{self._place(self.size + j)}]" for j in reversed(range(self.checks))
        )
        fails = "error" if kind == "check" else "syndrome"
        text += (
            f"word_t v, gap;\nlogic [{self.size - 1}:0] d;\nassign v = {received};\n"
            f"assign d = {{{picked}}};\nassign gap = v ^ coded(d);\n"
            f"assign {fails} = {{{checks}}};\n"
        )
        if kind == "check":
            return text
        if kind == "syndrome":
            return f"{text}assign {y} = d;"
        return text + self._found()

    def _found(self) -> str:
        y = self.names[1]
        table_bits = ", ".join(f"{self.checks}'d{c}" for c in reversed(self.columns))
        bits = f"[{self.size - 1}:0][{self.checks - 1}:0]"
        text = (
            f"localparam logic {bits} COLUMN = {{{table_bits}}};\n"
            f"logic [{self.size - 1}:0] hit;\n"
            f"for (genvar i = 0; i < {self.size}; i++) begin : bits\n"
            "    assign hit[i] = syndrome == COLUMN[i];\nend\n"
        )
        if not self.overall:
            return f"{text}assign bad = |syndrome;\nassign {y} = d ^ hit;"
        repaired = "single && !raw" if self.kind == "rewrite" else "single"
        text += (
            f"assign single = $countones(v) % 2 != {self.overall_odd};\n"
            f"assign double = |syndrome && !single;\n"
            f"assign {y} = {repaired} ? d ^ hit : d;\n"
        )
        if self.kind == "rewrite":
            text += f"assign again = double ? v : coded({y});\n"
        return text

    def _placing(self) -> str:
        """Return a function that adds up the code words of the single bits."""
        zero = self._word_of(0)
        rows = [self._word_of(1 << i) ^ zero for i in range(self.size)]
        lines = [
            f"    if (data[{i}]) coded ^= {self.length}'h{row:x};" for i, row in enumerate(rows)
        ]
        return (
            f"function automatic word_t coded(input logic [{self.size - 1}:0] data);\n"
            f"    coded = {self.length}'h{zero:x};\n" + "\n".join(lines) + "\nendfunction\n"
        )

    def _word_of(self, data: int) -> int:
        bits = [data >> i & 1 for i in range(self.size)]
        for j in range(self.checks):
            covered = sum(bits[i] for i in range(self.size) if self.columns[i] >> j & 1)
            bits.append((covered + (self.odd >> j)) % 2)
        if self.overall:
            bits.append((sum(bits) + self.overall_odd) % 2)
        return sum(bits[bit] << place for place, bit in enumerate(self.order))


def draw_columns(rng: Rng, size: int, checks: int) -> tuple[int, ...]:
    """Draw different columns of two ones or more; every check bit covers a bit of data."""
    while True:
        left = [n for n in range(2**checks) if n.bit_count() > 1]
        columns = [left.pop(integer(rng, 0, len(left) - 1)) for _ in range(size)]
        covered = 0
        for column in columns:
            covered |= column
        if covered == 2**checks - 1:
            return tuple(columns)


def shuffled(rng: Rng, count: int) -> tuple[int, ...]:
    """Return the numbers below ``count`` in some order."""
    order = list(range(count))
    for place in range(count - 1, 0, -1):
        other = integer(rng, 0, place)
        order[place], order[other] = order[other], order[place]
    return tuple(order)
