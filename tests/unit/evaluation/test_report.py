"""The report page: complete, well formed, harmless."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from rlvr_envs.core.errors import UsageError
from rlvr_envs.core.registry import find
from rlvr_envs.evaluation import FunctionPolicy, Policy, Response, evaluate

pytest.importorskip("plotly")

from rlvr_envs.evaluation.report import page, write_report
from rlvr_envs.evaluation.report_samples import pick_samples

VOID = {"meta", "link", "br", "hr", "img", "input"}
HOSTILE = "</script></pre><script>alert(1)</script><img src=x onerror=alert(2)>\ud800"


class Outline(HTMLParser):
    """Checks that tags nest, and collects scripts, images and texts."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.tags = []
        self.scripts = []
        self.text = []
        self.links = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs).get("type"), ""))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            kind, text = self.scripts[-1]
            self.scripts[-1] = (kind, text + data)
        else:
            self.text.append(data)


def outline(text):
    found = Outline()
    found.feed(text)
    found.close()
    assert found.open == []
    return found


@pytest.fixture
def hostile_run(tmp_path):
    policies = [
        "oracle",
        FunctionPolicy(f"bad {HOSTILE[:-1]}", lambda messages: HOSTILE),
    ]
    return evaluate(
        ["EvalPlus-v0", "EvalTagPlus-v0"],
        policies,
        difficulty=[0, 1],
        episodes=3,
        samples=4,
        out=tmp_path,
    )


def test_the_page_is_well_formed_and_lets_nothing_run_or_load(hostile_run):
    path = write_report(hostile_run)
    text = path.read_text(encoding="utf-8")
    found = outline(text)
    kinds = [kind for kind, _ in found.scripts]
    # plotly.js, the data of each plot, and the few lines that draw them
    assert kinds == [None, *["application/json"] * (len(kinds) - 2), None]
    assert found.tags.count("img") == 0
    assert found.links == []
    shown = "".join(found.text)
    assert "<script>alert(1)</script>" in shown  # as text, to be read
    for kind, data in found.scripts:
        if kind == "application/json":
            assert set(json.loads(data)) == {"data", "layout"}
            assert "<" not in data


def test_the_page_allows_its_own_scripts_and_no_other(hostile_run):
    text = write_report(hostile_run).read_text(encoding="utf-8")
    head, _, rest = text.partition('<meta http-equiv="Content-Security-Policy" content="')
    policy = dict(part.split(" ", 1) for part in rest[: rest.index('"')].split("; "))
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    wanted = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    assert "<script" not in head
    assert policy["script-src"].split() == wanted
    assert policy["default-src"] == policy["form-action"] == policy["base-uri"] == "'none'"


def test_the_page_shows_prompts_responses_verdicts_and_configuration(hostile_run):
    text = write_report(hostile_run).read_text(encoding="utf-8")
    shown = "".join(outline(text).text)
    for part in (
        "What is ",
        "Put your final answer in",
        "\\boxed{",
        "correct",
        "unparsable",
        "Oracle's answer",
        '"episodes": 3',
        "pass@4",
    ):
        assert part in shown


def test_samples_are_of_every_kind_and_do_not_depend_on_the_order(hostile_run, tmp_path):
    path = hostile_run.folder / "episodes.jsonl"
    first = pick_samples(path, hostile_run.plan)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    other = tmp_path / "reversed.jsonl"
    other.write_text("".join(reversed(lines)), encoding="utf-8")
    assert [s.record["key"] for s in pick_samples(other, hostile_run.plan)] == [
        s.record["key"] for s in first
    ]
    kinds = {(s.record["task"], s.record["verdict"]["status"]) for s in first}
    assert kinds == {
        (task, status)
        for task in ("rlvr/EvalPlus-v0", "rlvr/EvalTagPlus-v0")
        for status in ("correct", "unparsable")
    }


class Counting(Policy):
    """Answers 1, and counts 1,000 tokens read and 500 written."""

    async def act(self, request):
        return Response("\\boxed{1}", prompt_tokens=1000, tokens=500)


def test_tokens_have_a_price_where_they_are_counted(tmp_path):
    policies = [Counting("counting"), "oracle"]
    run = evaluate("EvalPlus-v0", policies, episodes=4, out=tmp_path)
    assert "$" not in shown(run)
    path = write_report(run, price=(2.5, 10.0))
    text = "".join(outline(path.read_text(encoding="utf-8")).text)
    assert text.count("$0.0300 at $2.5 in and $10 out a million") == text.count("$0.") == 1


def test_a_single_task_at_one_difficulty_and_a_run_without_scores_have_pages(tmp_path):
    for name in ("EvalPlus-v0", "EvalUnposable-v0", "EvalHotCold-v0", "EvalListed-v0"):
        run = evaluate(name, "oracle", episodes=2, out=tmp_path / name)
        outline(write_report(run).read_text(encoding="utf-8"))


def test_a_run_without_a_folder_has_no_report():
    with pytest.raises(UsageError, match="folder"):
        write_report(evaluate("EvalPlus-v0", "oracle", episodes=1))


def test_many_tasks_fit_on_a_page(tmp_path):
    run = evaluate("Math-v0", "constant:1", difficulty=[0, 1], episodes=40, out=tmp_path)
    outline(page(run, []))


def test_optimisation_tasks_show_shares_of_feasible_answers_and_ratios(tmp_path):
    policies = ["oracle", "constant:5000", "constant:none"]
    run = evaluate("EvalNearPlus-v0", policies, episodes=3, out=tmp_path / "near")
    groups = {group.by["policy"]: group for group in run.summary["overall"]}
    assert groups["oracle"].feasible.mean == groups["oracle"].ratio.mean == 1.0
    assert groups["constant:5000"].feasible.mean == groups["constant:none"].ratio.mean == 0.0
    shown = outline(write_report(run).read_text(encoding="utf-8")).text
    assert shown[shown.index("SR") + 1] == "AR"
    assert "SR 1.000 · AR 1.000" in shown
    plain = evaluate("EvalPlus-v0", "oracle", episodes=1, out=tmp_path / "plain")
    assert "SR" not in outline(write_report(plain).read_text(encoding="utf-8")).text


def shown(run):
    return "".join(outline(write_report(run).read_text(encoding="utf-8")).text)


def test_the_stored_problems_are_shown_whatever_the_task_makes_today(tmp_path, monkeypatch):
    run = evaluate("EvalPlus-v0", "oracle", episodes=2, out=tmp_path)
    plus = find("rlvr/EvalPlus-v0").task_type
    samples = pick_samples(tmp_path / "episodes.jsonl", run.plan)
    with monkeypatch.context() as patch:
        patch.setattr(plus, "prompt", lambda self, problem: "Guess.")
        patch.setattr(plus, "solve", lambda self, problem: "-1")
        assert pick_samples(tmp_path / "episodes.jsonl", run.plan) == samples
    assert all(re.match(r"What is \d \+ \d\?", sample.prompt) for sample in samples)
    assert all(sample.reference.isdecimal() for sample in samples)

    (tmp_path / "problems.jsonl").unlink()  # as a run of an older version
    assert pick_samples(tmp_path / "episodes.jsonl", run.plan) == samples
    pair = plus.Problem
    monkeypatch.setattr(plus, "generate", lambda self, rng: pair(100, 100))
    again = pick_samples(tmp_path / "episodes.jsonl", run.plan)
    assert {s.prompt for s in again} == {"(not stored, and this version makes another problem)"}


def test_a_problem_without_a_reference_is_shown_without_it(tmp_path, monkeypatch):
    monkeypatch.delattr(find("rlvr/EvalPlus-v0").task_type, "solve")
    text = shown(evaluate("EvalPlus-v0", "constant:1", episodes=1, out=tmp_path))
    assert "What is" in text
    assert "Oracle's answer" not in text


def test_an_interactive_episode_shows_what_the_task_replied(tmp_path):
    text = shown(evaluate("EvalHotCold-v0", "oracle", episodes=1, out=tmp_path))
    assert "[1] no idea\n    colder\n[2] " in text
    assert text.count("    found") == 1


def test_a_large_mixture_is_folded_by_domain(tmp_path):
    run = evaluate("All-v0", ["constant:1", "random"], difficulty=0, episodes=60, out=tmp_path)
    assert run.summary.is_wide
    text = page(run, pick_samples(tmp_path / "episodes.jsonl", run.plan))
    found = outline(text)
    texts = [part.strip() for part in found.text]
    assert "Score by domain" in texts
    # The domain's row of figures is in the title of its fold.
    for domain, tasks in run.summary.domains.items():
        groups = [g for g in run.summary["domain"] if g.by["domain"] == domain]
        scores = " · ".join(f"{g.by['policy']} {g.score.mean:.3f}" for g in groups)
        assert f"· {len(tasks)} tasks · {scores}" in texts
    assert any(part.endswith("too few to compare") for part in texts)
    assert found.tags.count("details") >= 2 * len(run.summary.domains)


def test_a_few_tasks_are_not_folded(hostile_run):
    texts = "".join(outline(page(hostile_run, [])).text)
    assert "Score by task" in texts
    assert "Score by domain" not in texts


class Thinking(Policy):
    async def act(self, request):
        thought = f"hm {HOSTILE}"
        return Response("\\boxed{1}", "stop", 1200, 3400, thought, attempts=3, waited_s=2.0)


def test_reasoning_tokens_and_retries_are_shown(tmp_path):
    run = evaluate("EvalPlus-v0", Thinking("thinking"), episodes=2, out=tmp_path)
    shown = outline(write_report(run).read_text(encoding="utf-8")).text
    assert shown[shown.index("Reasoning") + 1].startswith("hm </script>")
    assert "6,800 tokens in · 2,400 tokens out" in shown
    assert "4 requests tried again, 4 s of waiting" in shown
    assert shown[shown.index("tokens in") + 1] == "tokens out"
    plain = evaluate("EvalPlus-v0", "oracle", episodes=1, out=tmp_path / "plain")
    assert "tokens in" not in outline(write_report(plain).read_text(encoding="utf-8")).text
