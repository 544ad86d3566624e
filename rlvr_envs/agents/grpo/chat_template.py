"""What a chat template writes around the texts of a conversation.

A template is only ever given words of our own, and what it writes around them is read off: around
the first prompt, and after the last answer. Neither depends on what was said before, so templates
that rewrite earlier turns (most drop their thoughts) serve conversations of any length.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError, did_you_mean

# Words that no template changes.
_ASKED, _TOLD, _SYSTEM = "rlvr-asked", "rlvr-told", "rlvr-system"
_ANSWERED, _THOUGHT = "rlvr-answered", "rlvr-thought"
# Templates call a thought by different names.
_THINKING = dict.fromkeys(("reasoning_content", "reasoning", "thinking"), _THOUGHT)
# Given by `Template` itself; every other variable may be an argument.
_OWN_VARIABLES = ("messages", "add_generation_prompt")
# A template that writes today's date would make another prompt each day, and no run would repeat.
_TODAY = date(2026, 1, 1)
_DATE_PARTS = "aAbBcdHIjmMpSUwWxXyY"

Message = dict[str, str]


def find_template(tokenizer: Any, name: str = "") -> tuple[str | None, str]:
    """Return the text of a chat template, or None for no template, and words that name it.

    Args:
        tokenizer: of transformers.
        name: a Jinja file, the name of one of the tokenizer's templates, ``none`` for texts on
            lines of their own, or nothing for the tokenizer's own template.

    Raises:
        ConfigError: there is no such file or name.
    """
    own = tokenizer.chat_template
    if name == "none" or (not name and own is None):
        return None, "no chat template"
    templates: Mapping[str, str] = own if isinstance(own, dict) else {"default": own} if own else {}
    chosen = name or "default"
    if chosen in templates:
        return templates[chosen], f"the tokenizer's chat template {chosen!r}"
    try:
        return Path(name).read_text(encoding="utf-8"), f"the chat template {name}"
    except (OSError, UnicodeDecodeError) as error:
        known = ("none", *templates)
        raise ConfigError(
            f"template={name!r} is no readable file and no template of the tokenizer"
            f"{did_you_mean(name, known)}: give a Jinja file or one of {', '.join(known)}"
        ) from error


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands before and after a text, and whether the text's ends are trimmed of spaces."""

    before: str
    after: str
    trims_start: bool = False
    trims_end: bool = False

    def trimmed(self, text: str) -> str:
        """Return the text as the template would write it."""
        text = text.lstrip() if self.trims_start else text
        return text.rstrip() if self.trims_end else text


@dataclass(frozen=True, slots=True)
class Thought:
    """What a model writes around its thought, white space included; no start inside one."""

    start: str
    end: str


class Template:
    """Reads a chat template.

    Args:
        tokenizer: of transformers; its tokens have names in a template (``bos_token``).
        text: the template, in Jinja.
        label: words that name it in errors.
        arguments: variables that the template reads, such as ``enable_thinking``.
        system_prompt: said first; where the template has no system role, it heads the prompt.

    Raises:
        ConfigError: the template cannot be read, or does not read an argument.
    """

    def __init__(
        self,
        tokenizer: Any,
        text: str,
        label: str,
        arguments: Mapping[str, Any] | None = None,
        system_prompt: str = "",
    ) -> None:
        self._tokenizer = tokenizer
        self._label = label
        self._arguments = dict(arguments or {})
        self._dated = _with_date(text)
        for name in self._arguments:
            if name in _OWN_VARIABLES or not re.search(rf"\b{re.escape(name)}\b", text):
                raise ConfigError(
                    f"template_args has {name!r}, which {label} does not read as a setting: leave "
                    "it out, or write it as the template does"
                )
        self._system: list[Message] = []
        head = ""
        if system_prompt and self._has_system_role():
            self._system = [{"role": "system", "content": system_prompt}]
        elif system_prompt:
            head = f"{system_prompt}\n\n"
        self._prompt = self.render([_user(_ASKED)])
        opening = self._frame(self.render([_user(f"\t{_ASKED}\t")]), _ASKED)
        self.opening = replace(
            opening, before=opening.before + head, trims_start=opening.trims_start and not head
        )

    def render(self, messages: list[Message], *, generation: bool = True) -> str:
        """Return what the template writes for a conversation.

        Raises:
            ConfigError: it is no Jinja, or refuses the conversation.
        """
        from jinja2 import TemplateError

        try:
            text = self._tokenizer.apply_chat_template(
                [*self._system, *messages],
                chat_template=self._dated,
                tokenize=False,
                add_generation_prompt=generation,
                **self._arguments,
            )
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError) as error:
            roles = ", ".join(message["role"] for message in messages)
            raise ConfigError(
                f"{self._label} cannot write a conversation of {roles}: {error}; set `template` to "
                "another one, or to none"
            ) from error
        return str(text)

    @cached_property
    def between(self) -> Frame:
        """What stands around a later message, from the end of the last answer on.

        Raises:
            ConfigError: the template leaves such a message out, or writes it in another way each
                time, so that a conversation cannot grow at its end.
        """
        talk = [_user(_ASKED), _assistant(_ANSWERED), _user(f"\t{_TOLD}\t")]
        frames = []
        for messages in (talk, [*talk[:2], *talk]):
            _, found, rest = self.render(messages).rpartition(_ANSWERED)
            if not found:
                raise ConfigError(
                    f"{self._label} leaves out what was answered, so it serves tasks of one turn "
                    "only: set `template` to another one, or to none"
                )
            frames.append(self._frame(rest, _TOLD))
        if frames[0] != frames[1]:
            raise ConfigError(
                f"{self._label} writes later turns in another way than earlier ones "
                f"({frames[0]} and {frames[1]}), so it serves tasks of one turn only: set "
                "`template` to another one, or to none"
            )
        return frames[0]

    @cached_property
    def ending(self) -> str:
        """What the template writes after the last answer of a conversation that ends with it."""
        return self._answered.rpartition(_ANSWERED)[2]

    @cached_property
    def thought(self) -> Thought:
        """What the template writes around a thought; tags where it knows of none."""
        said = ""
        with suppress(ConfigError):  # of a template that takes no thoughts
            said = self.render([_user(_ASKED), _assistant(_ANSWERED) | _THINKING], generation=False)
        start, _, rest = said.partition(_THOUGHT)
        end, answered, _ = rest.partition(_ANSWERED)
        if not (answered and end.strip()):
            end = "\n</think>\n\n"
        elif start.startswith(self._prompt):
            return Thought(start.removeprefix(self._prompt), end)
        prompt = self.opening.after
        opened = prompt.rfind("<think>") > prompt.rfind("</think>")
        return Thought("" if opened else "<think>\n", end)

    @property
    def opens_thought(self) -> bool:
        """Whether the model writes inside a thought, because the prompt has begun one."""
        return not self.thought.start.strip()

    @cached_property
    def header(self) -> str:
        """What a model writes before an answer without a thought, such as an empty thought."""
        said = self._answered.rpartition(_ANSWERED)[0]
        if said.startswith(self._prompt):
            header = said.removeprefix(self._prompt)
            # One space alone belongs to the answer's first word, or the tokenizer adds it.
            return header if header.strip() else ""
        return self.thought.end if self.opens_thought else ""

    @cached_property
    def _answered(self) -> str:
        return self.render([_user(_ASKED), _assistant(_ANSWERED)], generation=False)

    def _frame(self, text: str, word: str) -> Frame:
        """Return what stands around a word that was given with a tab on each side."""
        before, found, after = text.partition(word)
        if not found or word in after:
            raise ConfigError(
                f"{self._label} {'repeats' if found else 'leaves out'} what a user says: set "
                "`template` to another one, or to none"
            )
        return Frame(
            before.removesuffix("\t"),
            after.removeprefix("\t"),
            not before.endswith("\t"),
            not after.startswith("\t"),
        )

    def _has_system_role(self) -> bool:
        try:
            return _SYSTEM in self.render(
                [{"role": "system", "content": _SYSTEM}, _user(_ASKED)], generation=False
            )
        except ConfigError:  # templates raise to refuse a role
            return False


def _with_date(text: str) -> str:
    """Return a template for which today is always the same day."""
    if "strftime_now" not in text:
        return text
    parts = "".join(f".replace('%{p}', {_TODAY.strftime(f'%{p}')!r})" for p in _DATE_PARTS)
    return f"{{% macro strftime_now(format) %}}{{{{ format{parts} }}}}{{% endmacro %}}\n{text}"


def _user(content: str) -> Message:
    return {"role": "user", "content": content}


def _assistant(content: str) -> Message:
    return {"role": "assistant", "content": content}
