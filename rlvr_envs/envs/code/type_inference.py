"""Type inference: annotate functions whose types follow from what their bodies do."""

import ast
import re
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.type_inference.solver import ARITIES, written
from rlvr_envs.generators.type_inference.untyped_code import Draft, draw_function, finish, settle
from rlvr_envs.verifiers.python_source import parse_module

_PARAMETERS = "abcdefghijkmnpqrstuvwyz"
_RULES = """\
Every value has exactly one type: int, str, bool, list[T], set[T], dict[K, V] or tuple[A, B]. A \
bool is not an int, and there are no unions and no Any. These rules hold:

- `-`, `*`, `//` and `%` take two ints and return an int. `x + y` takes two ints, two strs or two \
lists of the same type, and returns a value of that type.
- `x == y` and `x < y` compare two values of the same type and return a bool. `not x` takes a bool \
and returns a bool.
- In a loop `for x in c`, c is a list or a set, and x is an item of it. In an expression `x in c`, \
x is an item of a list or a set, or a key of a dict; the result is a bool. `sorted(c)` returns a \
list of these items or keys.
- In `c[i]`, c is a list and i is an int, or c is a dict and i is a key. Strings and tuples are \
never indexed, looped over, searched with `in` or sorted.
- `x, y = t` unpacks a tuple. All items of a list literal have the same type.
- `str(x)` takes a value of any type and returns a str. Methods work as in Python: `append` of \
lists, `add` of sets, `items` of dicts, and `upper`, `strip`, `split` and `startswith` of strs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeInferenceConfig(TaskConfig):
    """How many functions there are, how long, and how deep their types are nested."""

    n_functions: int = knob(2, "functions, each of which may call those before it", low=1)
    n_params: int = knob(3, "parameters of each function", low=1, high=len(_PARAMETERS))
    n_statements: int = knob(4, "random statements, before those that determine the types", low=0)
    max_depth: int = knob(2, "largest nesting depth of list, set, dict and tuple", low=1)
    indirect: float = knob(
        0.5, "how often a type is determined through another value", low=0.0, high=1.0
    )

    @classmethod
    def at(cls, difficulty: int) -> "TypeInferenceConfig":
        """The functions, their parameters and statements grow, and the depth of the types."""
        return cls(
            n_functions=1 + difficulty // 2,
            n_params=min(2 + difficulty // 3, 6),
            n_statements=1 + difficulty,
            max_depth=min(1 + (difficulty + 2) // 3, 5),
            indirect=min(0.1 * difficulty, 0.9),
        )


@dataclass(frozen=True, slots=True)
class TypeInferenceProblem:
    """Code without annotations, and its signatures."""

    code: str
    signatures: tuple[str, ...] = hidden()


@register("TypeInference-v0", domain="code", answer_format="fenced:python")
class TypeInferenceTask(Task[TypeInferenceConfig, TypeInferenceProblem]):
    """Give the types of the parameters and the result of functions without annotations.

    Description:
        Small functions use their parameters, each other and a few built-ins. The types are drawn
        first; statements are added until unification of what they say forces every type, so there
        is exactly one right answer. Much of it goes by detours: through comparisons, displays,
        indexing and calls of other functions.

    Observation:
        The rules of the type system, and the code.

    Action:
        The `def` line of every function with annotations; bodies may be left out (`...`) or
        repeated.

    Reward:
        1 if every annotation of every function is right, otherwise 0.

    Verification:
        Structural, on the syntax tree of the answer, which never runs. `typing.List` and the like
        count as `list` and the like. The types are the only ones that fit the stated rules.

    Difficulty:
        The functions, their parameters and statements, the depth of the types and the share of
        detours grow.

    References:
        Milner, A Theory of Type Polymorphism in Programming, Journal of Computer and System
        Sciences 17 (1978).
    """

    def generate(self, rng: Rng) -> TypeInferenceProblem:
        config = self.config
        drafts: list[Draft] = []
        for index in range(config.n_functions):
            start = integer(rng, 0, len(_PARAMETERS) - config.n_params)
            params = tuple(_PARAMETERS[start : start + config.n_params])
            callees = drafts[-1:] if rng.random() < 0.7 else []
            draft = draw_function(rng, f"f{index + 1}", params, config, callees)
            finish(rng, draft)
            drafts.append(draft)
        solution = settle(rng, drafts, config.indirect)
        signatures = []
        for draft in drafts:
            listed = ", ".join(f"{p}: {written(solution.of(draft.of(p)))}" for p in draft.params)
            gives = written(solution.of(draft.of("return")))
            signatures.append(f"def {draft.name}({listed}) -> {gives}: ...")
        return TypeInferenceProblem(
            "\n\n\n".join(draft.text() for draft in drafts), tuple(signatures)
        )

    def prompt(self, problem: TypeInferenceProblem) -> str:
        return (
            "Find the types of the parameters and of the result of every function below. "
            f"{_RULES}\n\nThese rules determine the type of every parameter and result. A call of "
            "another function takes values of its parameter types and returns its result type."
            f"\n\n```python\n{problem.code}\n```\n\nAnswer with one line for each function, in the "
            "form `def f(a: list[int], b: str) -> bool: ...`. Keep the names of functions and "
            "parameters. All types must be right."
        )

    def verify(self, problem: TypeInferenceProblem, answer: str) -> Verdict:
        found, wanted = _signatures(answer), _signatures("\n".join(problem.signatures))
        if found is None or wanted is None:
            return Verdict.unparsable("expected lines such as def f(a: list[int]) -> bool: ...")
        if found.keys() != wanted.keys():
            return Verdict.wrong(f"expected the signatures of {', '.join(wanted)} and no others")
        slots = sum(map(len, wanted.values()))
        right = sum(
            one == other
            for name in wanted
            for one, other in zip(found[name], wanted[name], strict=False)
        )
        if found == wanted:
            return Verdict.correct(right=slots, total=slots)
        return Verdict.wrong("not every type and parameter name is right", right=right, total=slots)

    def solve(self, problem: TypeInferenceProblem) -> str:
        return "\n".join(problem.signatures)

    def effort(self, problem: TypeInferenceProblem) -> int:
        """Count the words and signs of the code, once for each constructor in its types."""
        return code_length(problem.code) * len(re.findall(r"\w+\[", "".join(problem.signatures)))

    def baseline(self, rng: Rng, problem: TypeInferenceProblem) -> str:
        """Call every parameter and every result an int."""
        heads = re.findall(r"^def (\w+)\((.*)\):$", problem.code, re.MULTILINE)
        return "\n".join(
            f"def {name}({params.replace(',', ': int,')}: int) -> int: ..."
            for name, params in heads
        )


def _signatures(source: str) -> dict[str, list[str]] | None:
    """Return by function its parameters and result, each as ``name: type`` in one spelling."""
    module = parse_module(source)
    if module is None:
        return None
    found: dict[str, list[str]] = {}
    for statement in module.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        if not isinstance(statement, ast.FunctionDef) or statement.name in found:
            return None
        given = statement.args
        if given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg or given.defaults:
            return None
        parts = [(arg.arg, arg.annotation) for arg in given.args] + [("return", statement.returns)]
        found[statement.name] = [f"{name}: {_annotation(kind)}" for name, kind in parts]
    return found or None


def _annotation(node: ast.expr | None) -> str:
    """Return an annotation in one spelling, or "?" where it is none of the allowed."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        node = ast.Name(node.attr) if node.value.id == "typing" else None
    if isinstance(node, ast.Name):
        return node.id if ARITIES.get(node.id) == 0 else "?"
    if not isinstance(node, ast.Subscript):
        return "?"
    base = node.value.attr if isinstance(node.value, ast.Attribute) else None
    name = node.value.id if isinstance(node.value, ast.Name) else base or ""
    if name in ("List", "Set", "Dict", "Tuple"):
        name = name.lower()
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if ARITIES.get(name) != len(inner):
        return "?"
    return f"{name}[{', '.join(map(_annotation, inner))}]"
