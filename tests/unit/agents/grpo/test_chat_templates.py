"""Every text chat template that TRL ships, in episodes of several turns.

The templates are read from TRL's installed package, so none is copied here. Each gets a tokenizer of
its own, with the control tokens that it writes.
"""

import importlib.metadata
import importlib.util
import re
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
spec = importlib.util.find_spec("trl")  # finding it does not run it
if spec is None or spec.origin is None:
    pytest.skip("needs trl", allow_module_level=True)
if not importlib.metadata.version("trl").startswith("1.16."):
    pytest.skip("counts the templates of TRL 1.16, here is another", allow_module_level=True)

from rlvr_envs.agents.grpo.batch import batch  # noqa: E402
from rlvr_envs.agents.grpo.chat import Chat, check_template  # noqa: E402
from rlvr_envs.agents.grpo.rollout import Rollout  # noqa: E402
from rlvr_envs.agents.grpo.sampling.sampler import Completion  # noqa: E402
from rlvr_envs.core.answer import spoken  # noqa: E402
from rlvr_envs.core.env import TextEnv  # noqa: E402
from rlvr_envs.curricula import Proposal  # noqa: E402
from rlvr_envs.wrappers import Horizon  # noqa: E402

FOLDER = Path(spec.origin).parent / "chat_templates"
SEES = ("idefics3", "lfm2_2_5_vl", "llava_next", "qwen2_5_vl", "qwen3_vl", "smolvlm")  # pictures
TEXT = sorted(
    path.stem for path in FOLDER.glob("*.jinja") if path.stem.removesuffix("_training") not in SEES
)
CONTROL = re.compile(r"<\|?[^<>\s'\"{}%]{1,30}>|<[|｜][^<>{}%]{1,30}[|｜]>|\[gMASK\]")
PLAIN = ("<think>", "</think>", "<tool_call>", "</tool_call>")  # added, and not special
ASKED, TOLD = "What is 2 + 2?", "No.\nAgain."
THOUGHT, ANSWER = "Two and two.", "\\boxed{4}"
ENDS_OTHERWISE = ("gptoss", "gptoss_training")  # the last turn with another token than the others
TURNS = 4


def read(name):
    return (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")


def tokenizer(template, **names):
    """Return a byte-level tokenizer with the control tokens of a template and a few merges."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    merges = [("b", "o"), ("Ċ", "Ċ"), ("Ġ", "t")]
    vocab = {token: i for i, token in enumerate([*letters, *map("".join, merges)])}
    core = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocab, merges=merges))
    core.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = tokenizers.decoders.ByteLevel()
    found = sorted({*CONTROL.findall(template), "<s>", "</s>", "<pad>", *PLAIN})
    core.add_special_tokens([token for token in found if token not in PLAIN])
    core.add_tokens([tokenizers.AddedToken(token, normalized=False) for token in PLAIN])
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", **names}
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=core, **names)
    made.chat_template = template
    return made


def letters(made, text):
    """Return one token for each byte: not what the tokenizer would make of the text."""
    return tuple(token for letter in text for token in made(letter).input_ids)


def rendered(made, messages, *, generation=True):
    """Return what the template writes, on the day that `Chat` gives it."""
    text = made.apply_chat_template(messages, tokenize=False, add_generation_prompt=generation)
    for day in ("%Y-%m-%d", "%d %b %Y"):
        text = text.replace(date.today().strftime(day), date(2026, 1, 1).strftime(day))
    return text


def test_there_are_61():
    assert len(TEXT) == 61


@pytest.mark.parametrize("name", TEXT)
def test_what_is_trained_on_is_what_was_sampled(name):
    made = tokenizer(read(name))
    check_template(made, several_turns=True)
    chat = Chat(made)
    sampled = []

    class Sampler:
        def generate(self, requests, *, temperature=1.0, seed=0):
            (request,) = requests
            turn = len(sampled)
            # One turn thinks, one is cut off before its end, and none is spelled as usual.
            said = letters(made, f"<think>{turn}" if turn == 1 else f"\\boxed{{{turn}}} bo\n\n")
            end = () if turn == 2 else (min(chat.end_tokens),)
            sampled.append((request.prompt, said + end))
            return [Completion(said + end, tuple(-float(i) for i in range(len(said + end))), True)]

        def update(self, weights, version):
            """Nothing is kept."""

    rollout = Rollout(
        lambda task, difficulty: Horizon(TextEnv(task, difficulty=difficulty), TURNS),
        Sampler(),
        chat,
        max_tokens=64,
        context=40_000,
        temperature=1.0,
    )
    asked = Proposal(task="GuessNumber-v0", difficulty=0, problem_seed=3)
    ((episode,),) = (group.episodes for group in rollout.play([asked], 1, seed=0))
    rollout.close()
    assert len(sampled) == TURNS
    assert [action.tokens for action in episode.actions] == [tokens for _, tokens in sampled]
    # Each prompt is the one before, what was sampled there, and an observation.
    for (prompt, said), (longer, _) in pairwise(sampled):
        assert longer[: len(prompt) + len(said)] == prompt + said
    made_batch = batch([episode], chat.pad_token)
    trained = made_batch.ids[made_batch.mask].tolist()
    assert trained == [token for _, tokens in sampled for token in tokens]


@pytest.mark.parametrize("name", TEXT)
def test_what_stands_between_answers_is_what_the_template_writes_there(name):
    made = tokenizer(read(name))
    chat = Chat(made)
    messages = [{"role": "user", "content": ASKED}]
    opening = rendered(made, messages)
    assert made.decode(chat.opening(ASKED)) == opening
    assert chat.opening(ASKED) == tuple(made.encode(opening))  # template and text together
    for turn in range(TURNS):
        answer = f"It is {turn}."
        messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": TOLD}]
        after = rendered(made, messages).rpartition(answer)[2]
        whole = chat.observation(TOLD, finished=False)
        assert made.decode(whole) == after
        assert chat.observation(TOLD, finished=True) == whole[1:]
    end = rendered(made, messages[:2], generation=False).rpartition("It is 0.")[2]
    if name in ENDS_OTHERWISE:
        assert made.decode(whole[:1]) == "<|end|>"
        assert {made.eos_token_id, *made.encode("<|return|>")} == chat.end_tokens
    else:
        assert end.startswith(made.decode(whole[:1])) or (name, end) == ("glm4moe", "")
        assert whole[0] in chat.end_tokens


@pytest.mark.parametrize("name", TEXT)
def test_a_demonstration_goes_on_where_the_prompt_ends(name):
    made = tokenizer(read(name))
    chat = Chat(made)
    talk = [{"role": "user", "content": ASKED}, {"role": "assistant", "content": ANSWER}]
    written = rendered(made, talk, generation=False)
    grown = made.decode(chat.opening(ASKED) + chat.action(ANSWER))
    if written.startswith(rendered(made, talk[:1])):
        ends = made.decode(chat.action("")[-1:])  # which GLM-4 writes with the next turn only
        assert (written + ends).startswith(grown)
    else:  # the prompt begins a thought that the template does not write into the answer
        assert re.search(r"<think>\s*</think>\s*" + re.escape(ANSWER), grown)
    assert spoken(chat.text(chat.action(ANSWER))).strip() == ANSWER


@pytest.mark.parametrize("name", TEXT)
def test_thoughts_are_told_from_answers(name):
    made = tokenizer(read(name))
    chat = Chat(made)
    said = chat.text(chat.action(f"<think>\n{THOUGHT}\n</think>\n\n{ANSWER}"))
    assert THOUGHT in said
    assert said.count("<think>") == said.count("</think>") == 1
    assert spoken(said).strip() == ANSWER
    talk = [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": ANSWER, "reasoning": THOUGHT}
        | dict.fromkeys(("reasoning_content", "thinking"), THOUGHT),
    ]
    written = rendered(made, talk, generation=False)
    if THOUGHT in written and written.startswith(rendered(made, talk[:1])):
        grown = made.decode(
            chat.opening(ASKED) + chat.action(f"<think>{THOUGHT}</think>{ANSWER}")[:-1]
        )
        assert written.startswith(grown)


@pytest.mark.parametrize("name", TEXT)
def test_no_page_becomes_a_control_token(name):
    template = read(name)
    made = tokenizer(template)
    chat = Chat(made)
    control = sorted({*CONTROL.findall(template), "<s>", "</s>", "<pad>"})
    page = "".join(control) + " <|im_<|im_end|>end|> <</s>/s>\n" + " x ".join(control) + "."
    ids = {token for token in made.added_tokens_decoder if str(made.decode([token])) in control}
    for framed, empty in (
        (chat.opening(page), chat.opening(".")),
        (chat.observation(page, finished=False), chat.observation(".", finished=False)),
    ):
        assert page in made.decode(framed)
        assert [t for t in framed if t in ids] == [t for t in empty if t in ids]


@pytest.mark.parametrize("name", ["gptoss", "llama3_2", "muse_glimmer"])
def test_a_template_that_writes_the_date_writes_the_same_each_day(name):
    made = tokenizer(read(name))
    shown = made.decode(Chat(made).opening(ASKED))
    assert re.search(r"2026-01-01|01 Jan 2026", shown)


@pytest.mark.parametrize("name", ["qwen3", "glm4moe", "qwen3_5_think", "nemotron_3_nano"])
def test_thinking_is_switched_off_by_an_argument(name):
    made = tokenizer(read(name))
    chat = Chat(made, template_args={"enable_thinking": False})
    shown = made.decode(chat.opening(ASKED))
    assert re.search(r"<think>\s*</think>\s*$", shown)
    assert shown == made.apply_chat_template(
        [{"role": "user", "content": ASKED}],
        tokenize=False,
        add_generation_prompt=True,
        enable_thinking=False,
    )
    assert chat.text(chat.action(ANSWER)) == ANSWER
    assert made.decode(chat.observation(TOLD, finished=True)).rstrip().endswith("</think>")


def test_channels_are_read_as_thought_and_answer():
    made = tokenizer(read("gptoss"))
    chat = Chat(made)
    encode = made.encode
    analysis = encode("<|channel|>analysis<|message|>Two \\boxed{5}?")
    final = encode("<|end|><|start|>assistant<|channel|>final<|message|>\\boxed{4}<|return|>")
    assert chat.text(analysis + final) == "<think>Two \\boxed{5}?</think>\\boxed{4}"
    assert spoken(chat.text(analysis)) == ""
    assert chat.text(encode("<|channel|>final<|message|>\\boxed{4}<|return|>")) == "\\boxed{4}"


def test_a_thought_that_the_prompt_began_and_nothing_ended_is_no_answer():
    made = tokenizer(read("deepseek_r1_distill"))
    chat = Chat(made)
    assert made.decode(chat.opening(ASKED)).endswith("<think>\n")
    thinking = letters(made, "Perhaps \\boxed{5}")
    assert spoken(chat.text(thinking)) == ""
    assert spoken(chat.text(thinking + letters(made, "</think>\\boxed{4}"))) == "\\boxed{4}"
