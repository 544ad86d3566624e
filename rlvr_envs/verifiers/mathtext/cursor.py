"""The parser's place among the tokens, and the kinds of tokens it looks for."""

from rlvr_envs.verifiers.mathtext.lexer import Token, Unreadable

_END = Token("end of text", "", False)


class Cursor:
    """A place in a list of tokens."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead: int = 0) -> Token:
        """Return a token near the current one; the end of the text is a token too."""
        place = self.at + ahead
        return self.tokens[place] if 0 <= place < len(self.tokens) else _END

    def sees(self, *texts: str) -> bool:
        """Whether the current token is one of these operators."""
        token = self.peek()
        return token.kind == "op" and token.text in texts

    def take(self, *texts: str) -> bool:
        """Step over the current token if it is one of these operators."""
        if self.sees(*texts):
            self.at += 1
            return True
        return False

    def expect(self, *texts: str) -> str:
        """Step over one of these operators and return it.

        Raises:
            Unreadable: the current token is another one.
        """
        token = self.peek()
        if not self.take(*texts):
            raise Unreadable(f"expected {texts[0]!r} before {token.text[:20]!r}")
        return token.text
