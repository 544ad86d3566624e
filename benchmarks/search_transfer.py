"""Whether a search policy chosen on fictional worlds is also a good one on an own corpus.

The policy asks BM25 queries and knows neither plans nor the pages' sentence patterns. It searches
for the question or for the first name in it, reads the first pages, scores each sentence by the
words that it shares with the question, and searches for a name in the best sentence. After some
rounds it answers with a name or, where the question asks for a number, a number of the best
sentence. Its variants differ in the first query, the rounds and the pages read in a round.

Each variant plays problems of worlds of some levels and all questions of the corpus. The best
variant of a place is chosen on one half of its problems and measured on the other half, and on the
other places as a whole: what it loses to the best one there is the cost of the transfer.

    python benchmarks/search_transfer.py --problems 40
    python benchmarks/search_transfer.py --corpus wiki.jsonl --questions hotpot.json --out own.json

Without files the corpus is the sample of the package: 12 pages and 8 questions of our own, too few
for more than a sign that the policy runs there as it does on worlds.
"""

import re
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

import gymnasium
import results_file
from search_baselines import Ask, Policy, episode, first_name, hits

from rlvr_envs.core import registry

MEASURED = (
    "mean rewards of a policy with BM25 queries in ten variants on search worlds and on a corpus, "
    "and of the variant that is the best on another place"
)
TASKS = ("ChainSearch-v0", "InverseSearch-v0", "TemporalSearch-v0", "ComparisonSearch-v0")
# Levels of the world, and relations to follow; a chain has two at least. With more relations the
# policy earns nothing in any variant, so that there would be none to choose.
WORLDS = ((0, 1), (5, 1), (10, 1), (0, 2))
ROUNDS = ((1, 1), (1, 3), (2, 1), (2, 3), (3, 1))  # searches, and pages read after each
SAMPLE = "sample"

_SENTENCE = re.compile(r"(?<=[.?!])\s+|\n")
_LINK = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)")
_WORD = re.compile(r"\w+")
_NAME = re.compile(r"\b[A-Z]\w+(?: (?:(?:of|to|from|by) )?[A-Z]\w+)*")
_NUMBER = re.compile(r"(?<![\w,])\d[\d,]*")
_WANTS_NUMBER = re.compile(r"How many|What is the (?:number|year)|(?:In|Until) which year")
_SHORT = 3  # letters of a word that says little


def sentences(page: str) -> list[str]:
    """Return the sentences and rows of a page as it was shown, without its links."""
    return [part for part in _SENTENCE.split(_LINK.sub(r"\1", page)) if part.strip()]


def ranked(question: str, read: Sequence[str], *, numbers: bool) -> list[str]:
    """Return names or numbers of some sentences that a question does not hold, the best first.

    One counts as much as the best sentence that holds it: by the share of the words of the question
    in it, and of several by how often it was read.
    """
    asked = {word for word in _WORD.findall(question.lower()) if len(word) > _SHORT}
    often: Counter[str] = Counter()
    best: dict[str, float] = {}
    for sentence in read:
        words = set(_WORD.findall(sentence.lower()))
        score = len(asked & words) / (1 + len(asked))
        for found in (_NUMBER if numbers else _NAME).findall(sentence):
            if found.lower() in question.lower():
                continue
            often[found] += 1
            best[found] = max(best.get(found, 0.0), score)
    return sorted(best, key=lambda found: (-best[found], -often[found], found))


def policy(by_name: bool, rounds: int, width: int) -> Policy:
    """Return the policy of a first query, a number of searches, and pages read after each."""

    def play(question: str, ask: Ask) -> str:
        query = f'"{first_name(question)}"' if by_name else question
        read: list[str] = []
        asked = {query}
        for _ in range(rounds):
            for _, page in hits(ask(f"<search>{query}</search>"))[:width]:
                read += sentences(ask(f"<access>{page}</access>"))
            names = (f'"{name}"' for name in ranked(question, read, numbers=False))
            query = next((name for name in names if name not in asked), "")
            if not query:
                break
            asked.add(query)
        numbers = _WANTS_NUMBER.match(question) is not None
        return next(iter(ranked(question, read, numbers=numbers)), "nothing")

    return play


VARIANTS = {
    f"{'name' if by_name else 'question'}, {rounds} x {width}": policy(by_name, rounds, width)
    for by_name in (False, True)
    for rounds, width in ROUNDS
}


def played(env: Any, instances: Sequence[Any]) -> list[dict[str, float]]:
    """Return what each variant earns on each problem."""
    rows = [instance.to_row() for instance in instances]
    return [{name: episode(env, row, play) for name, play in VARIANTS.items()} for row in rows]


def world(level: int, hops: int, problems: int) -> list[dict[str, float]]:
    """Play on worlds of a level, the tasks in turn, so that both halves hold all of them."""
    found = []
    knobs = {"world_level": level, "hops": hops, "max_calls": 10}
    for name in TASKS:
        env: Any = gymnasium.make(f"rlvr/{name}", disable_env_checker=True, **knobs)
        drawn = [env.unwrapped.source.draw(seed) for seed in range(problems)]
        found.append(played(env, drawn))
    return [row for rows in zip(*found, strict=True) for row in rows]


def corpus(path: str, questions: str) -> list[dict[str, float]]:
    """Play on all questions of a corpus."""
    name = "rlvr/SearchCorpus-v0"
    knobs = {"corpus": path, "questions": questions}
    task_type = registry.find(name).task_type
    task: Any = task_type(task_type.Config(**knobs))
    env: Any = gymnasium.make(name, disable_env_checker=True, **knobs)
    instances = []
    for index in range(len(task)):
        env.reset(options={"index": index})
        instances.append(env.unwrapped.instance)
    return played(env, instances)


def means(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each variant."""
    return {name: round(fmean(row[name] for row in rows), 4) for name in VARIANTS}


def best(rows: Sequence[dict[str, float]]) -> str:
    """Return the variant that earns most, of equal ones the first."""
    found = means(rows)
    return max(found, key=lambda name: found[name])


def transfer(places: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Return for each place what the variants chosen on each of the places earn there."""
    table: dict[str, Any] = {}
    for here, rows in places.items():
        row: dict[str, Any] = {"problems": len(rows)}
        for there, others in places.items():
            # A place is not measured on the problems that its own variant was chosen on.
            size = len(rows) // 2
            chosen, measured = (rows[:size], rows[size:]) if here == there else (others, rows)
            row[f"chosen on {there}"] = means(measured)[best(chosen)]
        table[here] = row
    return table


def main() -> int:
    """Measure and store everything."""
    parser = results_file.parser(__doc__, "search_transfer")
    parser.add_argument("--problems", type=int, default=40, help="of each task and level")
    parser.add_argument("--corpus", default=SAMPLE, help="a file that SearchCorpus-v0 reads")
    parser.add_argument("--questions", default=SAMPLE, help="the file of its questions")
    args = parser.parse_args()
    places = {
        f"worlds {level}, hops {hops}": world(level, hops, args.problems) for level, hops in WORLDS
    }
    own = "sample corpus" if args.corpus == SAMPLE else "own corpus"
    if args.corpus == SAMPLE:
        print("no --corpus and --questions: real text is left out, the sample is played")
    places[own] = corpus(args.corpus, args.questions)
    figures = {
        "variants": results_file.table({place: means(rows) for place, rows in places.items()}),
        "transfer": results_file.table(transfer(places)),
    }
    head = results_file.head(MEASURED, "tantivy")
    results_file.store(args, head, figures, places, whole=args.corpus == SAMPLE)
    for place, row in transfer(places).items():
        print(place, row)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
