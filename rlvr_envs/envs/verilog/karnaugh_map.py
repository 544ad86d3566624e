"""KarnaughMap: functions given as Karnaugh maps, with map-entered variables."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware.design import Design, inputs, literal, module, outputs, sv_module
from rlvr_envs.generators.hardware.tables import listed, table
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_MOST_VARIABLES, _MOST_MAPS, _MOST_ENTERED = 6, 8, 4
_LETTERS = ("abcdefuvwk", "pqrstmuvwk")  # six variables of the maps, four that are entered


@dataclass(frozen=True, slots=True, kw_only=True)
class KarnaughMapConfig(DesignConfig):
    """How large the maps are, how many there are, and what their cells contain."""

    variables: int = knob(4, "number of variables of a map", low=3, high=_MOST_VARIABLES)
    maps: int = knob(1, "number of maps, each for one output", low=1, high=_MOST_MAPS)
    entered: int = knob(
        0, "number of map-entered variables (variables in cells)", low=0, high=_MOST_ENTERED
    )

    @classmethod
    def at(cls, difficulty: int) -> "KarnaughMapConfig":
        """Even levels put a variable into cells, up to 8; odd ones add a variable or a map.

        There are at most 6 variables and 8 maps.
        """
        return cls(
            variables=min(3 + (difficulty + 3) // 4, _MOST_VARIABLES),
            maps=min(1 + (3 * difficulty + 1) // 10, _MOST_MAPS),
            entered=min(difficulty // 2, _MOST_ENTERED),
        )


@register("KarnaughMap-v0", domain="verilog", answer_format=LANGUAGE)
class KarnaughMapTask(DesignTask[KarnaughMapConfig]):
    """Write the functions that Karnaugh maps show.

    Description:
        Maps of three to six variables have their rows and columns in Gray order, which begins
        anywhere and runs in either direction. Maps of five and six variables come in two or four
        layers. Cells contain 0, 1, functions of further variables, or the value of the same cell in
        the map before.

    Observation:
        How the maps are read, the ports, and the maps as tables.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). There are no
        cells without a value, so that every cell is checked.

    Difficulty:
        Maps get larger and more, and cells contain functions of more variables.

    References:
        Karnaugh 1953, The map method for synthesis of combinational logic circuits; Liu et al.
        2023, VerilogEval, arXiv:2309.07544, whose problems show such maps.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        letters = pick(rng, _LETTERS)
        order = list(letters[: config.variables])
        for place in range(len(order) - 1, 0, -1):
            other = integer(rng, 0, place)
            order[place], order[other] = order[other], order[place]
        entered = tuple(letters[6 : 6 + config.entered])
        maps = tuple(
            tuple(_cell(rng, entered, place > 0) for _ in range(2**config.variables))
            for place in range(config.maps)
        )
        turned = config.variables > 3
        return _Maps(
            order=tuple(order),
            entered=entered,
            maps=maps,
            rows=_gray_order(rng, 1 if config.variables == 3 else 2, turned),
            columns=_gray_order(rng, 2, turned),
            letter=pick(rng, ("f", "y", "z")) + ("_out" if config.maps == 1 else ""),
        ).design(letters[: config.variables])


def _gray_order(rng: Rng, bits: int, turned: bool) -> tuple[int, ...]:
    order = [n ^ (n >> 1) for n in range(2**bits)]
    if turned:
        start = integer(rng, 0, len(order) - 1)
        order = order[start:] + order[:start]
        if integer(rng, 0, 1):
            order.reverse()
    return tuple(order)


def _cell(rng: Rng, entered: tuple[str, ...], later: bool) -> str:
    """Draw what stands in a cell: a number, a function, or a reference to the map before."""
    kinds = ["number"] * 4 + ["variable"] * 2 * bool(entered)
    kinds += ["pair"] * (len(entered) > 1) + ["same"] * (later and len(entered) > 1)
    kind = pick(rng, kinds)
    if kind == "number":
        return pick(rng, "01")
    if kind == "same":
        return pick(rng, ("same", "~same"))
    sign = pick(rng, ("", "~"))
    first = integer(rng, 0, len(entered) - 1)
    if kind == "variable":
        return sign + entered[first]
    second = (first + integer(rng, 1, len(entered) - 1)) % len(entered)
    names = sorted((entered[first], entered[second]))
    return f"{sign}{names[0]} {pick(rng, '&+^')} {names[1]}"


@dataclass(frozen=True, slots=True)
class _Maps:
    order: tuple[str, ...]  # variables: of the layer, of the rows, of the columns
    entered: tuple[str, ...]
    maps: tuple[tuple[str, ...], ...]  # a cell for each number of the variables in ``order``
    rows: tuple[int, ...]  # numbers of the rows, from the top
    columns: tuple[int, ...]
    letter: str

    def design(self, letters: str) -> Design:
        signals = inputs(
            *((name, 1, "variable of the map") for name in letters),
            *((name, 1, "map-entered variable") for name in self.entered),
        )
        names = [self._output(k) for k in range(len(self.maps))]
        signals += outputs(*((name, 1, f"function given by map `{name}`") for name in names))
        many = f"a circuit for {len(names)} functions, each given as a Karnaugh map"
        one = "a circuit for a function given as a Karnaugh map"
        return Design(
            title=f"{many if len(names) > 1 else one} of {len(self.order)} variables",
            signals=signals,
            rules=self._rules(),
            golden=module(signals, self._golden(), registers=names),
            alternative=sv_module(signals, self._alternative()),
            figure="\n\n".join(self._figure(k) for k in range(len(names))),
        )

    def _output(self, place: int) -> str:
        return self.letter if len(self.maps) == 1 else f"{self.letter}{place}"

    def _split(self) -> tuple[str, str, str]:
        """Return the variables of the layers, of the rows and of the columns."""
        word = "".join(self.order)
        return word[: -2 - self._row_bits()], word[-2 - self._row_bits() : -2], word[-2:]

    def _row_bits(self) -> int:
        return 1 if len(self.rows) == 2 else 2

    def _rules(self) -> tuple[str, ...]:
        layers, rows, columns = self._split()
        rules = [
            (
                f"Each column is labelled with the values of {_names(columns)}, in this order. "
                f"Each row is labelled with the {'value' if len(rows) == 1 else 'values'} of "
                f"{_names(rows)}{', in this order' * (len(rows) > 1)}."
            ),
            "Each output has the value in the cell of its map that the current inputs select."
            if len(self.maps) > 1
            else "The output has the value in the cell of the map that the current inputs select.",
        ]
        if layers:
            rules.append(
                f"Each map has {2 ** len(layers)} layers, one for each "
                f"{'value' if len(layers) == 1 else 'combination of values'} of {_names(layers)}."
            )
        if any(
            cell[-1] not in "01" and "same" not in cell for cells in self.maps for cell in cells
        ):
            rules.append(
                "In a cell, a letter is the input of that name, ~ is NOT (of the single letter "
                "that follows it), & is AND, + is OR, and ^ is XOR."
            )
        if any("same" in cell for cells in self.maps for cell in cells):
            rules.append(
                "`same` in a cell means the value of the same cell in the map of the previous "
                f"output (for `{self._output(1)}` that is the map of `{self._output(0)}`). `~same` "
                "means the inverse of that value."
            )
        return tuple(rules)

    def _figure(self, place: int) -> str:
        layers, rows, columns = self._split()
        width = len(rows)
        parts = []
        for layer in range(2 ** len(layers)):
            head = [f"{rows} \\ {columns}", *(f"{column:02b}" for column in self.columns)]
            lines = []
            for row in self.rows:
                number = (layer << width | row) << 2
                cells = (self.maps[place][number | column] for column in self.columns)
                lines.append([f"{row:0{width}b}", *cells])
            title = f"`{self._output(place)}`"
            if layers:
                values = f"{layer:0{len(layers)}b}"
                title += (
                    f" for {listed([f'{n} = {v}' for n, v in zip(layers, values, strict=True)])}"
                )
            parts.append(f"{title}:\n\n{table(head, lines)}")
        return "\n\n".join(parts)

    def _expression(self, place: int, cell: str) -> str:
        text = cell.replace("+", "|")
        return text.replace("same", self._output(place - 1)) if "same" in text else text

    def _golden(self) -> str:
        """Return each map as a case over its cells."""
        width = len(self.order)
        lines = [f"wire [{width - 1}:0] place = {{{', '.join(self.order)}}};"]
        for k, cells in enumerate(self.maps):
            lines.append("always @(*)\n    case (place)")
            for number, cell in enumerate(cells[:-1]):
                expression = self._expression(k, cell)
                lines.append(f"        {literal(width, number)}: {self._output(k)} = {expression};")
            last = self._expression(k, cells[-1])
            lines.append(f"        default: {self._output(k)} = {last};\n    endcase")
        return "\n".join(lines)

    def _alternative(self) -> str:
        """Return each map as a sum of products for everything that stands in a cell."""
        lines = []
        for k, cells in enumerate(self.maps):
            terms = []
            for entry in sorted(set(cells) - {"0"}):
                where = frozenset(n for n, cell in enumerate(cells) if cell == entry)
                products = [self._product(*cube) for cube in cover(where, len(self.order))]
                term = " || ".join(products)
                terms.append(f"(({term}) && ({self._expression(k, entry)}))".replace("(1)", "1'b1"))
            name = self._output(k)
            lines.append(f"assign {name} = " + ("\n    || ".join(terms) or "1'b0") + ";")
        return "\n".join(lines)

    def _product(self, value: int, care: int) -> str:
        width = len(self.order)
        factors = [
            name if value >> (width - 1 - k) & 1 else f"!{name}"
            for k, name in enumerate(self.order)
            if care >> (width - 1 - k) & 1
        ]
        return f"({' && '.join(factors) or '1'})"


def _names(letters: str) -> str:
    return listed([f"`{letter}`" for letter in letters])


def cover(where: frozenset[int], width: int) -> list[tuple[int, int]]:
    """Return products (value, bits that matter) which are 1 at exactly these numbers.

    Each is a prime implicant: of the numbers left, the first is taken with all that can join it.
    """
    found: list[tuple[int, int]] = []
    left = set(where)
    while left:
        value, care = min(left), 2**width - 1
        for bit in range(width):
            fewer = care & ~(1 << bit)
            if all(n in where for n in range(2**width) if n & fewer == value & fewer):
                care = fewer
        found.append((value & care, care))
        left -= {n for n in left if n & care == value & care}
    return found
