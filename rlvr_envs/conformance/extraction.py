"""Checks of how answers are found in responses: what people and models write around them."""

from collections.abc import Iterator

from rlvr_envs.conformance.subject import Drawn, NotApplicable, Subject, require

_MENTIONS = {
    "boxed": r"The value in \boxed{} is final, in the form \boxed{...}.",
    "tag": "It stands between <answer> and </answer>, as asked.",
}


def answers_are_found(subject: Subject) -> None:
    """The oracle's answer earns full marks among repeated instructions, prompts and mentions."""
    for drawn in _single(subject, subject.count(12)):
        for name, response in _around(drawn):
            verdict = drawn.instance.judge(response)
            require(verdict.score == 1.0, f"{name}: {response!r:.300} got {verdict}")


def last_answer_counts(subject: Subject) -> None:
    """A response with two answers is judged as the last one alone; thoughts do not count."""
    seen = list(_single(subject, subject.count(12)))
    for one, other in zip(seen, [*seen[1:], seen[0]], strict=True):
        wrap = one.form.wrap
        right, wrong = wrap(str(one.reference)), wrap(str(other.reference))
        alone = one.instance.judge(wrong)
        pairs = {
            "a retracted right answer": (f"{right}\n\nNo wait, it is this:\n\n{wrong}", alone),
            "a corrected answer": (f"{wrong}\n\nNo wait, it is this:\n\n{right}", one.verdict),
            "a right thought": (f"<thinking>\n{right}\n</thinking>\n\n{wrong}", alone),
            "a thought after it": (f"{right}\n\n<think>\n{wrong}", one.verdict),
        }
        for name, (response, expected) in pairs.items():
            verdict = one.instance.judge(response)
            require(
                verdict.score == expected.score,
                f"{name}: {response!r:.300} got {verdict}, and its last answer alone {expected}",
            )


def _single(subject: Subject, count: int) -> Iterator[Drawn]:
    levels = (3,) if subject.task_type.judged_in_sandbox and not subject.thorough else (0, 3)
    for drawn in subject.draw_answered(count, levels=levels):
        if drawn.instance.format_label == "raw":
            raise NotApplicable("the whole response is the answer")
        yield drawn


def _around(drawn: Drawn) -> Iterator[tuple[str, str]]:
    form, answer = drawn.form, str(drawn.reference)
    full, says = form.wrap(answer), form.instruction()
    mention = _MENTIONS.get(form.name, "")
    yield "the instruction repeated before it", f"I am told: {says}\n\n{full}"
    yield "the instruction repeated after it", f"{full}\n\nI was told: {says}"
    yield "a mention of its form after it", f"{full}\n\n{mention}"
    yield "the prompt repeated before it", f"> {drawn.instance.prompt()}\n\nSo:\n\n{full}"
    yield "thoughts mentioned after it", f"{full}\n\nI thought between <think> and </think>."
    yield "invisible characters", f"\ufeff{full[:3]}\u200b{full[3:-2]}\u2060{full[-2:]}\u200b"
    if form.name == "boxed":
        yield "a box in a box", form.wrap(full)
        yield "the same box twice", f"{full}\n\nSo it is {full}."
    if form.name == "tag":
        yield "a tag in a tag", form.wrap(full)
        yield "a code block in the tag", form.wrap(f"\n```\n{answer}\n```\n")
    if form.name == "fenced":
        indented = "\n".join(f"   {line}" for line in full.split("\n"))
        yield "a block in a list", f"1. The answer:\n\n{indented}"
