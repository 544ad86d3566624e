"""Encodings of numbers with signs: what they are, and Verilog that puts words in order."""

# What a reader who knows the name may still ask.
ENCODINGS = {
    "two's complement": "",
    "sign and magnitude": (
        ": the top bit is 1 for negative numbers, the other bits are the absolute value, and "
        "minus zero equals zero"
    ),
    "ones' complement": (
        ": a negative number is its absolute value with every bit inverted, and minus zero (all "
        "ones) equals zero"
    ),
}


def key(encoding: str, word: str, width: int) -> str:
    """Return an unsigned word that is in order where the numbers are."""
    sign, rest = f"{word}[{width - 1}]", f"{word}[{width - 2}:0]"
    if encoding == "two's complement":
        return f"{{~{sign}, {rest}}}"
    if encoding == "sign and magnitude":
        return f"({sign} && |{rest} ? {{1'b0, ~{rest}}} : {{1'b1, {rest}}})"
    return f"({sign} && !(&{rest}) ? {{1'b0, {rest}}} : {{1'b1, {sign} ? ~{rest} : {rest}}})"


def value(encoding: str, word: str, width: int) -> str:
    """Return the number as a signed word of one bit more."""
    sign, rest = f"{word}[{width - 1}]", f"{word}[{width - 2}:0]"
    if encoding == "two's complement":
        return f"$signed({{{sign}, {word}}})"
    if encoding == "sign and magnitude":
        return f"({sign} ? -$signed({{2'b00, {rest}}}) : $signed({{2'b00, {rest}}}))"
    return f"$signed({{{sign}, {word}}} + {width + 1}'({sign}))"
