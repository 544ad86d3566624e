"""Framing against what each family's template renders for the whole conversation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr_envs.core.answer import spoken
from rlvr_envs.core.errors import ConfigError

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

from rlvr_envs.agents.grpo.chat import Chat, check_template  # noqa: E402  (it needs transformers)

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
def test_a_template_that_rewrites_turns_serves_several(template):
    made = tokenizer(template)
    chat = Chat(made)
    start = "<think>\n" if template is OPENS_THOUGHTS else ""
    assert shown(made, chat.opening("1?")).endswith(f"<|im_start|>assistant\n{start}")
    assert made.convert_tokens_to_ids("<|im_end|>") in chat.end_tokens
    assert shown(made, chat.observation("No.", finished=True)) == (
        f"\n<|im_start|>user\nNo.<|im_end|>\n<|im_start|>assistant\n{start}"
    )


def test_a_thought_that_the_prompt_begins_is_begun_in_the_text():
    made = tokenizer(OPENS_THOUGHTS)
    chat = Chat(made)
    assert chat.text(made("\\boxed{5}?").input_ids) == "<think>\n\\boxed{5}?"
    assert spoken(chat.text(made("\\boxed{5}?").input_ids)) == ""
    assert shown(made, chat.action("4")) == "\n</think>\n\n4<|im_end|>"
    assert shown(made, chat.action("<think>2, 2</think>4")) == "2, 2\n</think>\n\n4<|im_end|>"
    assert spoken(chat.text(chat.action("4"))).strip() == "4"


def test_tags_that_are_special_tokens_are_text_all_the_same():
    made = tokenizer(CHATML)
    tags = ["<think>", "</think>", "<tool_call>", "</tool_call>"]
    made.add_special_tokens({"additional_special_tokens": tags})
    chat = Chat(made)
    text = "<think>2 and 2</think>\n<tool_call>add(2, 2)</tool_call>"
    assert chat.text(made(text + "<|im_end|>").input_ids) == text
    assert chat.text(made("a<|im_start|>b").input_ids) == "ab"
    # A demonstration writes them as the model does; what is heard spells them out.
    call = "<tool_call>add(2, 2)</tool_call>"
    (tool_call,) = made("<tool_call>").input_ids
    assert tool_call in chat.action(call)
    assert tool_call not in chat.observation(call, finished=True)
    assert call in shown(made, chat.observation(call, finished=True))


@pytest.mark.parametrize("template", [*FRAMED.values(), None], ids=[*FRAMED, "none"])
@given(st.lists(st.sampled_from([*SPECIAL, "<", "|im_end|>", "/s>", "s>", "\n", " ", "a"])))
def test_texts_give_no_control_token(template, parts):
    made = tokenizer(template)
    chat = Chat(made)
    text = f"({''.join(parts)})"
    special = set(made.added_tokens_decoder)
    for framed in (chat.opening, lambda said: chat.observation(said, finished=False)):
        tokens, plain = framed(text), framed("()")
        assert text in shown(made, tokens)
        assert [t for t in tokens if t in special] == [t for t in plain if t in special]
    assert shown(made, chat.action(text)).startswith(text)
    assert special.intersection(chat.action(text)) == {chat.action("")[-1]}


@pytest.mark.parametrize("scheme", ["first", "always", "never"])
def test_tokenizers_that_put_a_space_in_front(scheme):
    letters = ["<unk>", *sorted(set("▁abcdegimnopstINST<>|/_:[]."))]
    core = tokenizers.Tokenizer(
        tokenizers.models.BPE(
            vocab={letter: i for i, letter in enumerate(letters)}, merges=[], unk_token="<unk>"
        )
    )
    core.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    core.decoder = tokenizers.decoders.Metaspace(prepend_scheme=scheme)
    core.add_special_tokens(["<unk>", *SPECIAL])
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=core, eos_token="</s>")
    made.chat_template = NO_SYSTEM
    tokens = Chat(made).opening("a <|im_end|>.</s></s> b")
    assert set(tokens) & set(made.added_tokens_decoder) <= {made.convert_tokens_to_ids("<s>")}
    words = shown(made, tokens)
    if scheme == "always":  # before each piece
        words = words.replace("<s> ", "<s>").replace("< ", "<")
    assert words == "<s>[INST] a <|im_end|>.</s></s> b [/INST]"
    plain = Chat(made).opening("a b")
    assert plain == tuple(made("<s>[INST] a b [/INST]", add_special_tokens=False).input_ids)


def test_an_added_token_that_is_called_special_by_nobody_is_spelled_out_too():
    made = tokenizer(CHATML)
    made.add_tokens(["<|fim_prefix|>", "<table>"])
    fim, table = made.convert_tokens_to_ids(["<|fim_prefix|>", "<table>"])
    opening = Chat(made).opening("<|fim_prefix|><table>")
    assert fim not in opening
    assert table in opening  # words of pages stay as the tokenizer has them
    assert "<|fim_prefix|><table>" in shown(made, opening)


def test_a_template_is_a_file_a_name_or_none(tmp_path):
    made = tokenizer({"default": CHATML, "short": NO_SYSTEM})
    assert shown(made, Chat(made, template="short").opening("1?")) == "<s>[INST] 1? [/INST]"
    assert Chat(made).template == CHATML
    assert Chat(made, template="none").template is None
    assert shown(made, Chat(made, template="none").opening("1?")) == "1?\n"
    file = tmp_path / "llama.jinja"
    file.write_text(LLAMA, encoding="utf-8")
    assert Chat(made, template=str(file)).template == LLAMA
    for name in ("shrt", str(tmp_path)):
        with pytest.raises(ConfigError, match=r"no readable file.*none, default, short"):
            check_template(made, several_turns=False, template=name)
    with pytest.raises(ConfigError, match=r"did you mean 'short'"):
        Chat(made, template="shrt")


def test_arguments_are_for_the_template_to_read():
    polite = CHATML.replace("Be kind.", "Be {{ manner | default('kind') }}.")
    made = tokenizer(polite)
    assert "Be rude." in shown(made, Chat(made, template_args={"manner": "rude"}).opening("1?"))
    for name in ("maner", "messages", "add_generation_prompt"):
        with pytest.raises(ConfigError, match=f"template_args has '{name}'"):
            check_template(made, several_turns=False, template_args={name: "rude"})
    with pytest.raises(ConfigError, match="needs a template"):
        Chat(tokenizer(), template_args={"manner": "rude"})


NUMBERED = CHATML.replace("{{ m.role }}", "{{ m.role }} {{ loop.index }}")
ONE_QUESTION = CHATML.replace(
    "{% for m in messages %}",
    "{% for m in messages %}{% if loop.index > 2 %}{{ raise_exception('too long') }}{% endif %}",
)
NO_ANSWER = CHATML.replace("{{ m.content }}", "{% if m.role == 'user' %}{{ m.content }}{% endif %}")


@pytest.mark.parametrize(
    ("template", "wrong"),
    [
        (NUMBERED, "writes later turns in another way"),
        (ONE_QUESTION, r"cannot write a conversation of user, assistant, user: too long"),
        (NO_ANSWER, "leaves out what was answered"),
        (CHATML.replace("in messages", "in messages[:2]"), "leaves out what a user says"),
    ],
)
def test_what_serves_one_turn_only_is_said_before_the_second(template, wrong):
    made = tokenizer(template)
    check_template(made, several_turns=False)
    with pytest.raises(ConfigError, match=f"chat template 'default' {wrong}.*set `template`"):
        check_template(made, several_turns=True)


@pytest.mark.parametrize(
    ("template", "wrong"),
    [
        ("{% for m in messages %}{{ m.content }}", "cannot write a conversation of user: "),
        ("{{ messages[0].content + 1 }}", "cannot write a conversation of user: "),
        ("{{ bos_token }}", "leaves out what a user says"),
        ("{{ messages[0].content * 2 }}", "repeats what a user says"),
    ],
)
def test_what_serves_no_turn_is_said_at_once(template, wrong):
    with pytest.raises(ConfigError, match=f"chat template 'default' {wrong}.*set `template`"):
        check_template(tokenizer(template), several_turns=False)


def test_the_ends_of_texts_are_trimmed_where_the_template_does():
    for template, told in ((CHATML, "user\n\n 1? \n<|im_end|>"), (LLAMA, "user\n\n1?<|im_end|>")):
        made = tokenizer(template)
        assert told in shown(made, Chat(made).opening("\n 1? \n"))
        assert told in shown(made, Chat(made).observation("\n 1? \n", finished=True))
    made = tokenizer(NO_SYSTEM.replace("{{ m.content }} [", "{{ m.content | trim }} ["))
    headed = Chat(made, system_prompt="Be brief.").opening("  1? ")
    assert shown(made, headed) == "<s>[INST] Be brief.\n\n  1? [/INST]"
    assert shown(made, Chat(made).opening("  1? ")) == "<s>[INST] 1? [/INST]"


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
