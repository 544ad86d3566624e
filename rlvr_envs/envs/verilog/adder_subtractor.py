"""AdderSubtractor: sums and differences, and all that can be said about their range."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware.design import Design, inputs, literal, module, outputs, sv_module
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

# In the order in which higher levels add them.
FEATURES = ("carry", "overflow", "saturate", "zero", "signed")
_FLAGS = {
    "carry": ("carry", "1 if the unsigned result is out of range"),
    "overflow": ("overflow", "1 if the signed result is out of range"),
    "zero": ("zero", "1 if the result is 0"),
}
_WIDEST, _MOST = 24, 8


# The exact results, and the two operands and the carry of an adder that makes them.
_OPERATIONS = {
    "a + b": ("a", "b", "1'b0"),
    "a - b": ("a", "~b", "1'b1"),
    "b - a": ("b", "~a", "1'b1"),
    "a + b + cin": ("a", "b", "cin"),
    "a - b - cin": ("a", "~b", "!cin"),
    "b - a - cin": ("b", "~a", "!cin"),
    "a + b + 1": ("a", "b", "1'b1"),
    "a - b - 1": ("a", "~b", "1'b0"),
    "a + 1": ("a", "0", "1'b1"),
    "b - 1": ("b", "~0", "1'b0"),
    "0 - a": ("0", "~a", "1'b1"),
    "a + cin": ("a", "0", "cin"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdderSubtractorConfig(DesignConfig):
    """How wide the operands are, and what is done with them."""

    width: int = knob(
        5, "largest operand width in bits; at least a quarter of it is drawn", low=2, high=_WIDEST
    )
    operations: int = knob(
        2, "number of operations (sums and differences) selected by `op`", low=1, high=_MOST
    )
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "AdderSubtractorConfig":
        """Odd levels add an operation, up to 8, and even ones a feature, up to 10.

        Words have up to 12 bits, and from 11 on up to a bit more a level.
        """
        return cls(
            width=min(max(12, 2 + difficulty), _WIDEST),
            operations=min(1 + (difficulty + 1) // 2, _MOST),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("AdderSubtractor-v0", domain="verilog", answer_format=LANGUAGE)
class AdderSubtractorTask(DesignTask[AdderSubtractorConfig]):
    """Write an adder and subtractor with flags and saturation.

    Description:
        An input selects a sum or difference of two words, some with a carry in. Flags say whether
        the exact result fits, unsigned or signed. A result that does not fit wraps or saturates.

    Observation:
        What the module does in numbered rules or prose, its ports, and a table of operations.

    Difficulty:
        Operations become more; flags, saturation and signedness interact.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 5.2, for adders and their
        flags; Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        width = integer(rng, max(2, config.width // 4), config.width)
        names = list(_OPERATIONS)
        order = rng.permutation(len(names)).tolist()
        bits = (config.operations - 1).bit_length()
        codes = rng.permutation(2**bits).tolist()[: config.operations]
        return _Adder(
            width=width,
            table=dict(zip(codes, (names[i] for i in order), strict=False)),
            bits=bits,
            other=integer(rng, 0, 2**width - 1),
            signed=bool(integer(rng, 0, 1)),
            saturate_level=integer(rng, 0, 1),
            features=FEATURES[: config.features],
            result=pick(rng, ("y", "sum", "result", "s", "z", "out")),
        ).design()


@dataclass(frozen=True, slots=True)
class _Adder:
    width: int
    table: dict[int, str]  # from values of `op` to operations
    bits: int  # of `op`
    other: int  # what is shown where `op` means nothing
    signed: bool  # what saturation means where no input selects it
    saturate_level: int
    features: tuple[str, ...]
    result: str

    def design(self) -> Design:
        has = self.features.__contains__
        signals = inputs(("a", self.width, "first operand"), ("b", self.width, "second operand"))
        if self._uses_cin():
            signals += inputs(("cin", 1, "carry in or borrow in"))
        if self.bits:
            signals += inputs(("op", self.bits, "operation code"))
        if has("saturate"):
            signals += inputs(
                (
                    "sat",
                    1,
                    f"the result saturates while this is {self.saturate_level}",
                )
            )
        if has("signed"):
            signals += inputs(
                ("sgn", 1, "saturation treats operands as signed (1) or unsigned (0)")
            )
        signals += outputs((self.result, self.width, "the result"))
        for feature, (name, meaning) in _FLAGS.items():
            if has(feature):
                signals += outputs((name, 1, meaning))
        first = next(iter(self.table.values()))
        what = f"computes {first}" if not self.bits else f"performs {len(self.table)} operations"
        return Design(
            title=f"an arithmetic unit for {self.width}-bit words that {what}",
            signals=signals,
            rules=self._rules(),
            golden=module(signals, self._golden(), registers=(self.result,)),
            alternative=sv_module(signals, self._alternative()),
            figure=self._figure(),
        )

    def _uses_cin(self) -> bool:
        return any("cin" in name for name in self.table.values())

    def _figure(self) -> str:
        if not self.bits:
            return ""
        rows = [f"| {literal(self.bits, c)} | {name} |" for c, name in sorted(self.table.items())]
        return "\n".join(["| `op` | exact result |", "| --- | --- |", *rows])

    def _rules(self) -> tuple[str, ...]:
        has, y, n = self.features.__contains__, f"`{self.result}`", self.width
        where = "that the table gives for `op`" if self.bits else next(iter(self.table.values()))
        rules = [f"{y} is the exact result {where}, modulo 2^{n} (its {n} least significant bits)."]
        if has("carry"):
            rules.append(
                "`carry` is 1 if and only if the exact result, computed with unsigned operands (0 "
                f"to {2**n - 1}), is below 0 or above {2**n - 1}."
            )
        low, high = -(2 ** (n - 1)), 2 ** (n - 1) - 1
        if has("overflow"):
            rules.append(
                "`overflow` is 1 if and only if the exact result, computed with two's complement "
                f"operands ({low} to {high}), is below {low} or above {high}."
            )
        if has("saturate"):
            rules.append(self._saturation())
        if has("zero"):
            rules.append(f"`zero` is 1 if and only if the output {y} is 0.")
        if len(self.table) < 2**self.bits:
            rules.append(self._otherwise())
        if self._uses_cin():
            rules.append(
                "`cin` always counts as the number 0 or 1, even where operands are signed."
            )
        return tuple(rules)

    def _saturation(self) -> str:
        n = self.width
        unsigned = f"unsigned, with the range 0 to {2**n - 1}"
        signed = f"in two's complement, with the range {-(2 ** (n - 1))} to {2 ** (n - 1) - 1}"
        kind = signed if self.signed else unsigned
        if "signed" in self.features:
            kind = f"{signed}, if `sgn` is 1; they are {unsigned}, if `sgn` is 0"
        return (
            f"While `sat` is {self.saturate_level}, `{self.result}` saturates instead of wrapping. "
            f"Operands and result are then {kind}. An exact result below the range becomes the "
            "minimum of the range, and one above it becomes the maximum. Saturation does not "
            "affect `carry` and `overflow`: they still describe the exact result."
        )

    def _otherwise(self) -> str:
        flags = [
            name for key, (name, _) in _FLAGS.items() if key in self.features and key != "zero"
        ]
        rest = "".join(f", `{name}` is 0" for name in flags)
        return (
            f"If `op` is not in the table, `{self.result}` is {literal(self.width, self.other)} "
            f"(decimal {self.other}) regardless of all other inputs{rest}."
        )

    def _golden(self) -> str:
        """Return one adder with prepared operands, whose last carries tell the ranges."""
        n, y = self.width, self.result
        zeros = {"0": literal(n, 0), "~0": literal(n, -1)}
        cases = []
        for code, name in sorted(self.table.items()):
            left, right, carry = (zeros.get(term, term) for term in _OPERATIONS[name])
            minus = int("-" in name)
            prepared = f"left = {left}; right = {right}; into = {carry}; minus = {minus};"
            cases.append(f"{literal(self.bits or 1, code)}: begin {prepared} end")
        lines = [
            f"reg [{n - 1}:0] left, right;\nreg into, minus, known;",
            "always @(*) begin",
            f"left = {literal(n, 0)}; right = {literal(n, 0)}; into = 0; minus = 0; known = 1;",
            f"case ({'op' if self.bits else literal(1, 0)})",
            *cases,
            "default: known = 0;\nendcase\nend",
            f"wire [{n}:0] total = left + right + into;",
            f"wire beyond = total[{n}] != minus;",
            f"wire over = left[{n - 1}] == right[{n - 1}] && total[{n - 1}] != left[{n - 1}];",
            f"wire signs = {self._signed()};",
            f"wire clip = {self._saturates()} && (signs ? over : beyond);",
            f"always @(*) begin\nif (!known) {y} = {literal(n, self.other)};",
            f"else if (!clip) {y} = total[{n - 1}:0];",
            f"else if (signs) {y} = {{left[{n - 1}], {{{n - 1}{{!left[{n - 1}]}}}}}};",
            f"else {y} = {{{n}{{!minus}}}};\nend",
        ]
        flags = {
            "carry": "known && beyond",
            "overflow": "known && over",
            "zero": f"{y} == 0",
        }
        return "\n".join([*lines, *self._flags(flags)])

    def _flags(self, values: dict[str, str]) -> list[str]:
        kept = [name for name in values if name in self.features]
        return [f"assign {_FLAGS[name][0]} = {values[name]};" for name in kept]

    def _signed(self) -> str:
        return "sgn" if "signed" in self.features else f"1'b{int(self.signed)}"

    def _saturates(self) -> str:
        if "saturate" not in self.features:
            return "1'b0"
        return "sat" if self.saturate_level else "!sat"

    def _alternative(self) -> str:
        """Return exact results in numbers that have room for all, compared with the bounds."""
        n, room = self.width, self.width + 3
        cases = []
        for code, name in sorted(self.table.items()):
            exact = "".join(f"e{k} = {_named(name.replace('cin', 'c'), k)}; " for k in "us")
            cases.append(f"{literal(self.bits or 1, code)}: begin {exact}end")
        top, low, high = 2**n - 1, -(2 ** (n - 1)), 2 ** (n - 1) - 1
        lines = [
            f"logic signed [{room - 1}:0] au, bu, as, bs, c, eu, es, low, high, near, shown;",
            "logic known, misfit, past;",
            f"assign au = {room}'(a);\nassign bu = {room}'(b);",
            f"assign as = {room}'($signed(a));\nassign bs = {room}'($signed(b));",
            f"assign c = {room}'({'cin' if self._uses_cin() else 0});",
            "always_comb begin\nknown = 1; eu = 0; es = 0;",
            f"case ({'op' if self.bits else literal(1, 0)})",
            *cases,
            "default: known = 0;\nendcase\nend",
            f"assign low = {self._signed()} ? {low} : 0;",
            f"assign high = {self._signed()} ? {high} : {top};",
            f"assign near = {self._signed()} ? es : eu;",
            f"assign past = {self._saturates()} & (near < low | near > high);",
            "assign shown = past ? near < low ? low : high : near;",
            f"assign {self.result} = known ? {n}'(shown) : {literal(n, self.other)};",
        ]
        flags = {
            "carry": f"known & (eu < 0 | eu > {top})",
            "overflow": f"known & (es < {low} | es > {high})",
            "zero": f"~|{self.result}",
        }
        return "\n".join([*lines, *self._flags(flags)])


def _named(name: str, kind: str) -> str:
    """Return a result in terms of the unsigned or of the signed values of the inputs."""
    return " ".join(f"{term}{kind}" if term in ("a", "b") else term for term in name.split())
