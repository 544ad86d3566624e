"""A numerical reading of LaTeX that shares no code with the package: the oracle of the tests."""

import re

import mpmath

FUNCTIONS = {
    "\\sin": mpmath.sin,
    "\\cos": mpmath.cos,
    "\\ln": mpmath.log,
    "\\arctan": mpmath.atan,
    "\\sqrt": mpmath.sqrt,
}


class Reader:
    def __init__(self, text, names):
        text = re.sub(r"\\left|\\right", "", text)
        self.tokens = re.findall(r"\\[a-z]+|\d+|[^\s]", text)
        self.names = {"\\pi": mpmath.pi(), "e": mpmath.e(), **names}
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def total(self):
        value = mpmath.mpf(0)
        sign = -1 if self.peek() == "-" and self.take() else 1
        while True:
            value += sign * self.term()
            if self.peek() not in ("+", "-"):
                return value
            sign = 1 if self.take() == "+" else -1

    def term(self):
        value = self.factor()
        while self.peek() not in ("", "+", "-", ")", "}"):
            operator = self.take() if self.peek() in ("\\cdot", "/") else ""
            value = value / self.factor() if operator == "/" else value * self.factor()
        return value

    def group(self):
        assert self.take() in "({"
        value = self.total()
        assert self.take() in ")}"
        return value

    def exponent(self):
        if self.peek() != "^":
            return 1
        self.take()
        return self.group() if self.peek() == "{" else self.single(self.take())

    def single(self, token):
        return mpmath.mpf(int(token)) if token.isdigit() else self.names[token]

    def factor(self):
        if self.peek() in ("(", "{"):
            value = self.group()
        else:
            token = self.take()
            if token == "\\frac":
                value = self.group() / self.group()
            elif token in FUNCTIONS:
                power = self.exponent()
                return FUNCTIONS[token](self.group()) ** power
            else:
                value = self.single(token)
        return value ** self.exponent()


def latex_value(text, **names):
    reader = Reader(text, names)
    value = reader.total()
    assert reader.at == len(reader.tokens), f"cannot read {text!r}"
    return value
