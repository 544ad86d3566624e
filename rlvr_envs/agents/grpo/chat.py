"""How a conversation is framed as tokens, so that nothing which was sampled is tokenised again.

A conversation grows at its end only: opening, action, observation, action, and so on. With a chat
template, what stands between an action and the place where the model writes next is the same for
every conversation, so it is read off the template once. Without one, as for base models, texts
stand on lines of their own.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from rlvr_envs.core.errors import ConfigError

# Words that no template changes. The thought is there because some templates drop it later on.
_ASKED, _TOLD, _SYSTEM = "rlvr-asked", "rlvr-told", "rlvr-system"
_ANSWERED = "<think>\nrlvr-thought\n</think>\n\nrlvr-answered"


class Chat:
    """Frames the texts of an environment for one tokenizer.

    Args:
        tokenizer: of transformers.
        system_prompt: said before the problem; where the template has no system role, it stands at
            the head of the prompt.
        end_tokens: more tokens that end an action, such as those of a model's generation
            configuration.

    Attributes:
        end_tokens: the tokens that end an action: the template's end of a turn, the tokenizer's
            end of a sequence, and the given ones.
        pad_token: fills up the rows of a batch; an end token where the tokenizer has none.

    Raises:
        ConfigError: nothing is known that ends an action.
    """

    def __init__(
        self, tokenizer: Any, *, system_prompt: str = "", end_tokens: Iterable[int] = ()
    ) -> None:
        self._tokenizer = tokenizer
        self._templated = tokenizer.chat_template is not None
        self._system = [{"role": "system", "content": system_prompt}] if system_prompt else []
        self._head = ""
        if system_prompt and not (self._templated and self._has_system_role()):
            self._system, self._head = [], f"{system_prompt}\n\n"
        self._end = self._turn_end()
        self._end_text = str(tokenizer.decode([self._end], clean_up_tokenization_spaces=False))
        ends = {self._end, tokenizer.eos_token_id, *end_tokens}
        self.end_tokens: frozenset[int] = frozenset(end for end in ends if end is not None)
        pad = tokenizer.pad_token_id
        self.pad_token: int = self._end if pad is None else pad
        self._between: tuple[str, str] | None = None

    def opening(self, prompt: str) -> tuple[int, ...]:
        """Return the tokens of a conversation up to where the model writes."""
        prompt = self._head + prompt
        if self._templated:
            return self._encode(self._render([_user(prompt)]))
        tokens = self._tokenizer(f"{prompt}\n").input_ids
        while tokens and tokens[-1] in self.end_tokens:  # some tokenizers close what they are given
            tokens = tokens[:-1]
        return tuple(tokens)

    def observation(self, text: str, *, finished: bool) -> tuple[int, ...]:
        """Return the tokens between an action and the next one.

        Args:
            text: what the environment answered.
            finished: whether the action has its end token; otherwise it comes first here.

        Raises:
            ConfigError: the template rewrites what was said before, so that a conversation cannot
                grow at its end.
        """
        if self._between is None:
            self._between = self._read_between() if self._templated else ("\n", "\n")
        before, after = self._between
        # With the end token, since some tokenizers read the start of a text in another way.
        tokens = self._encode(f"{self._end_text}{before}{text}{after}")
        return tokens[1:] if finished else tokens

    def action(self, text: str) -> tuple[int, ...]:
        """Return the tokens of an action to imitate, with its end token."""
        return (*self._encode(text), self._end)

    def text(self, tokens: Sequence[int]) -> str:
        """Return an action as text: up to its end token, without special tokens."""
        count = next((i for i, token in enumerate(tokens) if token in self.end_tokens), len(tokens))
        text = self._tokenizer.decode(
            list(tokens[:count]), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return str(text)

    def _encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer(text, add_special_tokens=False).input_ids)

    def _render(self, messages: list[dict[str, str]], *, generation: bool = True) -> str:
        text = self._tokenizer.apply_chat_template(
            [*self._system, *messages], tokenize=False, add_generation_prompt=generation
        )
        return str(text)

    def _has_system_role(self) -> bool:
        from jinja2 import TemplateError

        try:
            text = self._tokenizer.apply_chat_template(
                [{"role": "system", "content": _SYSTEM}, _user(_ASKED)], tokenize=False
            )
        except TemplateError:  # which templates raise to refuse a role
            return False
        return _SYSTEM in text

    def _turn_end(self) -> int:
        """Return the token that the template ends an answer with, or the tokenizer's end token."""
        if self._templated:
            text = self._render([_user(_ASKED), _assistant("rlvr-answered")], generation=False)
            tokens = self._encode(text.rpartition("rlvr-answered")[2].lstrip())
            if tokens and tokens[0] in self._special():
                return tokens[0]
        end: int | None = self._tokenizer.eos_token_id
        if end is None:
            raise ConfigError(
                "the tokenizer has no end-of-sequence token, so no answer would ever end: "
                "set its eos_token"
            )
        return end

    def _special(self) -> set[int]:
        added = self._tokenizer.get_added_vocab().values()
        return {*self._tokenizer.all_special_ids, *added}

    def _read_between(self) -> tuple[str, str]:
        """Return what the template writes before and after a later question.

        That is the difference between a conversation up to an answer and the same with another
        question, after the answer's end token.
        """
        opening = self._render([_user(_ASKED)])
        longer = self._render([_user(_ASKED), _assistant(_ANSWERED), _user(_TOLD)])
        # Some templates put a space before an answer, which the model writes itself.
        rest = longer.removeprefix(opening).lstrip()
        if not rest.startswith(_ANSWERED):
            raise ConfigError(
                "the chat template rewrites earlier turns (it drops their thoughts, say), so what "
                "was sampled would not be what the model is shown next: for tasks of several turns "
                "give the tokenizer a chat_template that keeps each turn as it was written, such "
                "as plain ChatML, or none"
            )
        rest = rest.removeprefix(_ANSWERED)
        if rest.lstrip().startswith(self._end_text):
            rest = rest.lstrip().removeprefix(self._end_text)
        before, found, after = rest.partition(_TOLD)
        if not found:
            raise ConfigError("the chat template leaves out what is said after an answer")
        return before, after


def _user(content: str) -> dict[str, str]:
    return {"role": "user", "content": content}


def _assistant(content: str) -> dict[str, str]:
    return {"role": "assistant", "content": content}
