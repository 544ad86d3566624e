"""Framing against what each family's template renders for the whole conversation."""

import pytest

from rlvr_envs.core.errors import ConfigError

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

from rlvr_envs.agents.grpo.chat import Chat  # noqa: E402  (it needs transformers)

CHATML = (
    "{% for m in messages %}{% if loop.first and m.role != 'system' %}<|im_start|>system\nBe "
    "kind.<|im_end|>\n{% endif %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LLAMA = (
    "<s>{% for m in messages %}<|im_start|>{{ m.role }}\n\n{{ m.content | trim }}<|im_end|>"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n\n{% endif %}"
)
NO_SYSTEM = (
    "<s>{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no such role') }}"
    "{% endif %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]{% else %} {{ m.content }}"
    "</s>{% endif %}{% endfor %}"
)
DROPS_SYSTEM = NO_SYSTEM.replace("{{ raise_exception('no such role') }}", "").replace(
    "{% else %}", "{% elif m.role == 'assistant' %}"
)
FORGETS_THOUGHTS = CHATML.replace("{{ m.content }}", "{{ m.content.split('</think>')[-1] }}")
OPENS_THOUGHTS = CHATML.replace("<|im_start|>assistant\n", "<|im_start|>assistant\n<think>\n")
NO_END = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}\n--\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
FRAMED = {"chatml": CHATML, "llama": LLAMA, "inst": NO_SYSTEM, "no_end": NO_END}
SPECIAL = ["<pad>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]


def tokenizer(template=None, **tokens):
    """Return a byte-level tokenizer without merges."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: i for i, token in enumerate([*SPECIAL, *letters])}
    core = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=[]))
    core.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = tokenizers.decoders.ByteLevel()
    core.add_special_tokens(SPECIAL)
    tokens = {"eos_token": "</s>", "pad_token": "<pad>", **tokens}
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=core, **tokens)
    made.chat_template = template
    return made


def shown(made, tokens):
    return made.decode(list(tokens))


def turns(*texts):
    roles = ["user", "assistant"] * len(texts)
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]


@pytest.mark.parametrize("template", FRAMED.values(), ids=FRAMED)
def test_a_conversation_that_grows_is_what_the_template_renders(template):
    made = tokenizer(template)
    chat = Chat(made)
    end = shown(made, chat.action("")) if template is not NO_END else ""
    grown = shown(made, chat.opening("2 + 2?"))
    texts = ["2 + 2?"]
    for answer, told in (("It is 5.", "No.\nAgain."), ("4", "Yes.")):
        gap = " " if template in (NO_SYSTEM, NO_END) else ""  # the model writes it
        observation = shown(made, chat.observation(told, finished=True))
        grown += gap + answer + end + observation
        texts += [answer, told]
        whole = made.apply_chat_template(turns(*texts), tokenize=False, add_generation_prompt=True)
        assert grown == whole


@pytest.mark.parametrize("template", [CHATML, LLAMA, NO_SYSTEM, None])
def test_only_an_unfinished_action_is_given_its_end_token(template):
    chat = Chat(tokenizer(template))
    finished = chat.observation("x", finished=True)
    unfinished = chat.observation("x", finished=False)
    assert unfinished == (chat.action("")[0], *finished)
    assert finished[0] not in chat.end_tokens


def test_without_a_template_texts_stand_on_lines():
    made = tokenizer()
    chat = Chat(made, system_prompt="Be brief.")
    assert shown(made, chat.opening("1 + 1?")) == "Be brief.\n\n1 + 1?\n"
    assert shown(made, chat.observation("No.", finished=True)) == "\nNo.\n"
    assert shown(made, chat.observation("No.", finished=False)) == "</s>\nNo.\n"
    assert shown(made, chat.action("2")) == "2</s>"


@pytest.mark.parametrize("template", [None, LLAMA])
def test_a_tokenizer_that_brackets_texts_opens_with_one_beginning(template):
    made = tokenizer(template)
    made.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    chat = Chat(made)
    opening, told = chat.opening("1?"), chat.observation("No.", finished=True)
    if template is None:
        assert (shown(made, opening), shown(made, told)) == ("<s>1?\n", "\nNo.\n")
    assert opening.count(made.convert_tokens_to_ids("<s>")) == 1
    assert not {*opening, *told, *chat.action("2")[:-1]} & {made.eos_token_id}


def test_the_system_prompt_stands_where_the_template_has_it():
    made = tokenizer(CHATML)
    opening = shown(made, Chat(made, system_prompt="Be brief.").opening("1?"))
    assert opening.startswith("<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n1?<|im_e")
    assert "Be kind." in shown(made, Chat(made).opening("1?"))


@pytest.mark.parametrize("template", [NO_SYSTEM, DROPS_SYSTEM])
def test_without_a_system_role_the_system_prompt_heads_the_question(template):
    made = tokenizer(template)
    chat = Chat(made, system_prompt="Be brief.")
    assert shown(made, chat.opening("1?")) == "<s>[INST] Be brief.\n\n1? [/INST]"
    assert shown(made, chat.observation("No.", finished=True)) == "[INST] No. [/INST]"


@pytest.mark.parametrize("template", [FORGETS_THOUGHTS, OPENS_THOUGHTS])
def test_a_template_that_rewrites_turns_serves_one_turn_only(template):
    made = tokenizer(template)
    chat = Chat(made)
    assert shown(made, chat.opening("1?")).endswith(
        "<think>\n" if template is OPENS_THOUGHTS else "assistant\n"
    )
    assert made.convert_tokens_to_ids("<|im_end|>") in chat.end_tokens
    with pytest.raises(ConfigError, match=r"rewrites earlier turns.*chat_template"):
        chat.observation("No.", finished=True)


def test_every_end_token_ends_an_action():
    made = tokenizer(CHATML)  # its turns end with another token than its sequences
    ends = made.convert_tokens_to_ids(["</s>", "<|im_end|>", "<|im_start|>"])
    assert Chat(made).end_tokens == set(ends[:2])
    chat = Chat(made, end_tokens=[ends[2]])
    assert chat.end_tokens == set(ends)
    letters = made("ab").input_ids
    for end in ends:
        assert chat.text([*letters, end, chat.pad_token, *letters]) == "ab"
    assert chat.text([*letters, chat.pad_token]) == "ab"
    assert chat.text([]) == ""


def test_an_action_is_decoded_as_it_was_written():
    made = tokenizer()
    chat = Chat(made)
    text = " a , b .  don 't\n\\boxed{é}"
    assert chat.text(chat.action(text)) == text


def test_a_template_that_ends_no_turn_leaves_it_to_the_tokenizer():
    made = tokenizer(NO_END)
    assert Chat(made).end_tokens == {made.eos_token_id}
    assert shown(made, Chat(made).observation("No.", finished=False)) == (
        "</s>\n--\nuser: No.\n--\nassistant:"
    )


def test_a_tokenizer_without_padding_pads_with_its_end():
    made = tokenizer(pad_token=None)
    assert Chat(made).pad_token == made.eos_token_id


def test_nothing_that_ends_an_answer_is_an_error():
    with pytest.raises(ConfigError, match="no end-of-sequence token"):
        Chat(tokenizer(eos_token=None))
    assert Chat(tokenizer(CHATML, eos_token=None)).end_tokens


def test_a_template_without_the_later_question_is_an_error():
    made = tokenizer(CHATML.replace("{% for m in messages %}", "{% for m in messages[:2] %}"))
    with pytest.raises(ConfigError, match="leaves out"):
        Chat(made).observation("No.", finished=True)
