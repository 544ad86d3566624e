"""What the requests of an episode used: the fields of its record, and their sums."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rlvr_envs.evaluation.policy import PolicyError, Response
from rlvr_envs.evaluation.store import Record

# The fields of a record that say how the policy was asked, where there is something to say. They
# stay as they are when an episode is judged again.
ASKED = (
    *("finish", "tokens", "prompt_tokens", "attempts", "waited_s"),
    *("reasoning", "tool_calls", "beside_calls"),
)


def asked_fields(
    responses: Sequence[Response], error: PolicyError | None, *, interactive: bool
) -> Record:
    """Return those fields of a record that a policy's responses fill.

    Counts are sums over the turns; tokens are left out where one turn does not say. ``reasoning``
    is a text, and a list of one for each turn in an interactive episode. ``tool_calls`` and
    ``beside_calls``, the text beside them, are lists by turn.
    """
    fields: Record = {}
    if responses and responses[-1].finish is not None:
        fields["finish"] = responses[-1].finish
    for name in ("tokens", "prompt_tokens"):
        counts = [getattr(response, name) for response in responses]
        if counts and None not in counts:
            fields[name] = sum(counts)
    asked: list[Response | PolicyError] = [*responses, *([error] if error else [])]
    if attempts := sum(each.attempts for each in asked):
        fields["attempts"] = attempts
        fields["waited_s"] = round(sum(each.waited_s for each in asked), 3)
    thoughts = [response.reasoning for response in responses]
    if any(thoughts):
        fields["reasoning"] = thoughts if interactive else thoughts[0]
    if any(response.calls for response in responses):
        fields["tool_calls"] = [list(response.calls) for response in responses]
        fields["beside_calls"] = [r.text if r.calls else "" for r in responses]
    return fields


def total(records: Iterable[Mapping[str, Any]], name: str) -> int | None:
    """Return the sum of a count over the episodes that have it, None where none has."""
    counts = [record[name] for record in records if name in record]
    return sum(counts) if counts else None


def retries(record: Mapping[str, Any]) -> int:
    """Return how many requests of an episode repeated one that had failed."""
    asked = record["turns"] + (record["verdict"]["status"] == "policy_error")
    return max(0, int(record.get("attempts", 0)) - int(asked))


def cost(prompt_tokens: int | None, tokens: int | None, price: tuple[float, float]) -> float | None:
    """Return the price of tokens, given that of a million read and of a million written.

    None where either was not counted.
    """
    if prompt_tokens is None or tokens is None:
        return None
    return (prompt_tokens * price[0] + tokens * price[1]) / 1e6
