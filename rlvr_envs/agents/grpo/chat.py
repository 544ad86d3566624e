"""How a conversation is framed as tokens, so that nothing which was sampled is tokenised again.

A conversation grows at its end only: opening, action, observation, action, and so on. With a chat
template, what stands around a prompt and around an observation is read off the template once.
Without one, as for base models, texts stand on lines of their own.

Template and text are tokenised together, as a chat is when a model is trained on it, so their
tokens join as usual. Only where a text spells a control token, such as ``<|im_end|>``, it is cut
behind that spelling's first letter and tokenised in pieces, so that it stays text.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

from rlvr_envs.agents.grpo.chat_template import Frame, Template, find_template
from rlvr_envs.core.errors import ConfigError

# What environments read in an answer; a tokenizer may have a special token for it.
_TAG = re.compile(r"</?(?:think|tool_call|search|access|find|answer|question)>")
_THOUGHT_FIRST = re.compile(r"\s*<think>\s*(.*?)\s*</think>\s*(.*)", re.DOTALL)
# Some tokenizers do not call these special, and no template writes them (``<|fim_prefix|>``).
_PIPED = re.compile(r"<[|\uff5c].*[|\uff5c]>")


def check_template(
    tokenizer: Any,
    *,
    several_turns: bool,
    template: str = "",
    template_args: Mapping[str, Any] | None = None,
    system_prompt: str = "",
) -> None:
    """Raise what would keep a `Chat` from framing episodes; needs the tokenizer alone.

    Args:
        tokenizer: of transformers.
        several_turns: whether episodes may have more than one turn.
        template: as for `Chat`.
        template_args: as for `Chat`.
        system_prompt: as for `Chat`.

    Raises:
        ConfigError: names the template, what is wrong with it and what to do.
    """
    chat = Chat(
        tokenizer, template=template, template_args=template_args, system_prompt=system_prompt
    )
    chat.text((*chat.opening("1 + 1?"), *chat.action("2")))
    if several_turns:
        chat.observation("No.", finished=True)


class Chat:
    """Frames the texts of an environment for one tokenizer.

    Args:
        tokenizer: of transformers.
        template: a Jinja file, the name of one of the tokenizer's templates, ``none`` for texts on
            lines of their own, or nothing for the tokenizer's own template.
        template_args: variables that the template reads, such as ``enable_thinking``.
        system_prompt: said before the problem; where the template has no system role, it stands at
            the head of the prompt.
        end_tokens: more tokens that end an action, such as those of a model's generation
            configuration.

    Attributes:
        template: the text of the template, None without one.
        end_tokens: the tokens that end an action: the template's end of a turn, the tokenizer's
            end of a sequence, and the given ones.
        pad_token: fills up the rows of a batch; an end token where the tokenizer has none.

    Raises:
        ConfigError: the template cannot be used, or nothing is known that ends an action.
    """

    def __init__(
        self,
        tokenizer: Any,
        *,
        template: str = "",
        template_args: Mapping[str, Any] | None = None,
        system_prompt: str = "",
        end_tokens: Iterable[int] = (),
    ) -> None:
        self._tokenizer = tokenizer
        self.template, label = find_template(tokenizer, template)
        self._template: Template | None = None
        self._opening = Frame(f"{system_prompt}\n\n" if system_prompt else "", "\n")
        if self.template is not None:
            self._template = Template(tokenizer, self.template, label, template_args, system_prompt)
            self._opening = self._template.opening
        elif template_args:
            raise ConfigError(
                f"template_args={dict(template_args)} needs a template: there is none"
            )
        self._added: dict[int, Any] = dict(tokenizer.added_tokens_decoder)
        self._end = self._turn_end()
        self._end_text = str(tokenizer.decode([self._end], clean_up_tokenization_spaces=False))
        ends = {self._end, tokenizer.eos_token_id, *end_tokens}
        self.end_tokens: frozenset[int] = frozenset(end for end in ends if end is not None)
        pad = tokenizer.pad_token_id
        self.pad_token: int = self._end if pad is None else pad
        control = self._control_tokens()
        self._control = _spelling(control)
        self._control_but_tags = _spelling(text for text in control if not _TAG.fullmatch(text))

    def opening(self, prompt: str) -> tuple[int, ...]:
        """Return the tokens of a conversation up to where the model writes."""
        return self._framed(self._opening, prompt, self._control, opening=True)

    def observation(self, text: str, *, finished: bool) -> tuple[int, ...]:
        """Return the tokens between an action and the next one.

        Args:
            text: what the environment answered.
            finished: whether the action has its end token; otherwise it comes first here.

        Raises:
            ConfigError: the template has no place for a later message.
        """
        tokens = self._framed(self._between, text, self._control)
        return tokens[1:] if finished else tokens

    def action(self, text: str) -> tuple[int, ...]:
        """Return the tokens of an action to imitate, with its end token.

        Where the template begins answers with something of its own (an empty thought, a channel),
        so does the action. A text that begins with ``<think>…</think>`` has its thought written as
        the template writes thoughts.
        """
        before = ""
        if self._template is not None:
            before = self._template.header
            if found := _THOUGHT_FIRST.fullmatch(text):
                thought = self._template.thought
                before, text = f"{thought.start}{found[1]}{thought.end}", found[2]
        return (*self._framed(Frame(before, ""), text, self._control_but_tags), self._end)

    def text(self, tokens: Sequence[int]) -> str:
        """Return an action as text: up to its end token, without special tokens.

        A thought stands between ``<think>`` and ``</think>``, whatever the template writes around
        it; one that the prompt has begun is begun here too. Without that a thought that never ends
        would be read as the answer.
        """
        count = next((i for i, token in enumerate(tokens) if token in self.end_tokens), len(tokens))
        rest = tuple(tokens[:count])
        said = ["<think>\n"] if self._template is not None and self._template.opens_thought else []
        start = place = 0
        while place < len(rest) and self._marks:
            for mark, meaning in self._marks:
                if rest[place : place + len(mark)] == mark:
                    said += [self._decode(rest[start:place]), meaning]
                    start = place = place + len(mark)
                    break
            else:
                place += 1
        return "".join((*said, self._decode(rest[start:])))

    @cached_property
    def _between(self) -> Frame:
        """What stands around an observation, beginning with one token that ends an action."""
        if self._template is None:
            return Frame(f"{self._end_text}\n", "\n")
        frame = self._template.between
        # Some templates put a space there, which is the model's to write.
        before = frame.before.lstrip()
        if self._first_special(before) is None:
            before = self._end_text + frame.before
        return replace(frame, before=before)

    @cached_property
    def _marks(self) -> list[tuple[tuple[int, ...], str]]:
        """Tokens that decoding would drop and environments must see, and what stands for them."""
        meanings: list[tuple[str, str]] = []
        if self._template is not None:
            thought = self._template.thought
            meanings = [(thought.end, "</think>"), (thought.start, "<think>")]
            meanings.append((self._template.header, ""))
        dropped = {token for token in self._added if self._added[token].special}
        meanings += [
            (text, text) for text in map(str, self._added.values()) if _TAG.fullmatch(text)
        ]
        marks = []
        for text, meaning in meanings:
            # White space may be one token with what the model writes beside the mark.
            bare = text.strip()
            mark = self._encode(bare if self._first_special(bare) is not None else text.rstrip())
            if dropped.intersection(mark):
                marks.append((mark, meaning))
        return marks

    def _framed(
        self, frame: Frame, text: str, control: re.Pattern[str], *, opening: bool = False
    ) -> tuple[int, ...]:
        """Return the tokens of a text in its frame, where the text gives no control token."""
        text = frame.trimmed(text)
        start = len(frame.before)
        end = start + len(text)
        whole = f"{frame.before}{text}{frame.after}"
        spelled = control.finditer(whole)
        cuts = [m.start() + 1 for m in spelled if m.end(1) > start and m.start() < end]
        first, *rest = (whole[i:j] for i, j in pairwise((0, *cuts, len(whole))))
        if opening and self._template is None:
            tokens = tuple(self._tokenizer(first).input_ids)
            while tokens and tokens[-1] in self.end_tokens:  # some close what they are given
                tokens = tokens[:-1]
        else:
            tokens = self._encode(first)
        if not rest:
            return tokens
        # After the end token, since some tokenizers read the start of a text in another way.
        pieces = self._tokenizer(
            [self._end_text + piece for piece in rest], add_special_tokens=False
        )
        return (*tokens, *chain.from_iterable(piece[1:] for piece in pieces.input_ids))

    def _encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer(text, add_special_tokens=False).input_ids)

    def _decode(self, tokens: Sequence[int]) -> str:
        return str(
            self._tokenizer.decode(
                list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def _turn_end(self) -> int:
        """Return the token that the template ends an answer with, or the tokenizer's end token."""
        if self._template is not None:
            end = self._first_special(self._template.ending.lstrip())
            if end is None:
                # The next turn's first token may end this one, as in GLM-4.
                with suppress(ConfigError):  # which is for those to hear who need a next turn
                    end = self._first_special(self._template.between.before.lstrip())
            if end is not None:
                return end
        eos: int | None = self._tokenizer.eos_token_id
        if eos is None:
            raise ConfigError(
                "the tokenizer has no end-of-sequence token, so no answer would ever end: "
                "set its eos_token"
            )
        return eos

    def _first_special(self, text: str) -> int | None:
        tokens = self._encode(text)
        return tokens[0] if tokens and tokens[0] in self._added else None

    def _control_tokens(self) -> set[str]:
        """Return the special tokens, those added that the template writes, and their like."""
        written = ""
        if self._template is not None:
            written = f"{self.template}\n{self._template.opening}\n{self._template.ending}"
        return {
            text
            for text, token in ((str(token), token) for token in self._added.values())
            if len(text) > 1
            and not text.isspace()
            and (token.special or text in written or _PIPED.fullmatch(text))
        }


def _spelling(texts: Iterable[str]) -> re.Pattern[str]:
    """Return what finds each place where one of the texts begins, those within others too."""
    longest_first = sorted(texts, key=lambda text: (-len(text), text))
    return re.compile(f"(?=({'|'.join(map(re.escape, longest_first)) or '(?!)'}))")
