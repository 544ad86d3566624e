"""Registries of what a run is put together from; others' code adds to them as ours does.

A plug-in is a function, or a class, that a decorator registers under its own name::

    from rlvr_envs.agents.grpo.plugins import estimator

    @estimator
    def above_median(rewards, *, scale: float = 1.0):
        return scale * (rewards - rewards.nanmedian(1, keepdim=True).values)

What it is handed is said by the names of its parameters, and what it needs follows from them: a
loss that takes ``reference`` has a reference model. Its keyword-only parameters are its settings;
they have a type and a default, are checked when a configuration is made, and are told by
``rlvr train --help``. A configuration names a plug-in as ``above_median`` or
``above_median(scale=2.0)``.

Plug-ins come from the entry-point group ``rlvr_envs.plugins``, whose entries are modules (ours is
the zoo), and from files that a configuration names.
"""

import ast
import hashlib
import importlib.metadata
import importlib.util
import inspect
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

import typeguard

from rlvr_envs.core.errors import ConfigError, did_you_mean, did_you_mean_path

ENTRY_POINTS = "rlvr_envs.plugins"
# What registers our own core; the rest comes by the entry points.
CORE = (
    "rlvr_envs.agents.grpo.advantages",
    "rlvr_envs.agents.grpo.losses",
    "rlvr_envs.agents.grpo.aggregations",
    "rlvr_envs.agents.grpo.corrections",
    "rlvr_envs.agents.grpo.sources",
    "rlvr_envs.agents.grpo.curriculum",
    "rlvr_envs.agents.grpo.sampling",
    "rlvr_envs.agents.grpo.callbacks",
)

Made = TypeVar("Made", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Plugin:
    """What is registered under a name.

    Attributes:
        kind: such as "loss".
        name: of the plug-in.
        make: the function or class.
        inputs: the names of what it is handed.
        settings: its settings' parameters, by name.
        traits: what else the decorator was told.

    Examples:
        >>> from rlvr_envs.agents.grpo.plugins import loss
        >>> loss.choose("cispo").plugin.settings
        {'high': <Parameter "high: float = 5.0">}
    """

    kind: str
    name: str
    make: Callable[..., Any]
    inputs: tuple[str, ...]
    settings: Mapping[str, inspect.Parameter]
    traits: Mapping[str, Any]

    @property
    def help(self) -> str:
        """Name, settings and the first line of the documentation."""
        told = ", ".join(
            str(parameter).replace("typing.", "") for parameter in self.settings.values()
        )
        first = (inspect.getdoc(self.make) or "").partition("\n")[0].removeprefix("Return ")
        return f"{self.name}({told}): {first}" if told else f"{self.name}: {first}"

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all settings, the given ones first checked.

        Raises:
            ConfigError: there is no such setting, or its value has another type.
        """
        hints = typing.get_type_hints(_signed(self.make))
        for name, value in given.items():
            if name not in self.settings:
                known = ", ".join(self.settings) or "none"
                hint = did_you_mean(name, self.settings)
                raise ConfigError(
                    f"the {self.kind} {self.name} has no setting {name!r}{hint} (it has: {known})"
                )
            if not fits(value, hints[name]):
                raise ConfigError(
                    f"the {self.kind} {self.name} takes {self.settings[name]}, got {value!r}"
                )
        return {name: given.get(name, each.default) for name, each in self.settings.items()}


@dataclass(frozen=True, slots=True)
class Choice:
    """A plug-in with its settings, ready to be called.

    Examples:
        >>> from rlvr_envs.agents.grpo.plugins import loss
        >>> choice = loss.choose("cispo(high=4.0)")
        >>> choice.name, choice.settings, choice.wants("mask")
        ('cispo', {'high': 4.0}, True)
    """

    plugin: Plugin
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the plug-in."""
        return self.plugin.name

    def wants(self, name: str) -> bool:
        """Whether it takes something of that name."""
        return name in self.plugin.inputs

    def __call__(self, known: object) -> Any:
        """Call it with what it takes of ``known``: attributes of an object, or entries."""
        if isinstance(known, Mapping):
            given = {name: known[name] for name in self.plugin.inputs}
        else:
            given = {name: getattr(known, name) for name in self.plugin.inputs}
        return self.plugin.make(**given, **self.settings)


class Registry:
    """The plug-ins of one kind, and the decorator that adds one.

    Args:
        kind: what it is called in messages.
        inputs: what a plug-in may take.
        traits: what else a decorator may be told.

    Examples:
        >>> from rlvr_envs.agents.grpo.plugins import aggregation
        >>> "token_mean" in [plugin.name for plugin in aggregation]
        True
        >>> aggregation.choose("token_mena")
        Traceback (most recent call last):
            ...
        rlvr_envs.core.errors.ConfigError: no aggregation 'token_mena'; did you mean 'token_mean'?
        ...
    """

    def __init__(self, kind: str, inputs: Sequence[str], *traits: str) -> None:
        self.kind, self.inputs, self.traits = kind, tuple(inputs), traits
        self._plugins: dict[str, Plugin] = {}

    @overload
    def __call__(self, make: Made, /) -> Made: ...

    @overload
    def __call__(
        self, make: None = None, /, *, name: str | None = None, **traits: Any
    ) -> Callable[[Made], Made]: ...

    def __call__(
        self, make: Made | None = None, /, *, name: str | None = None, **traits: Any
    ) -> Made | Callable[[Made], Made]:
        """Register a function or class, by its own name unless told another.

        Raises:
            ConfigError: another has the name, it takes what there is not, or a setting has no type
                or default.
        """
        if make is not None:
            self._add(make, make.__name__, traits)
            return make

        def add(made: Made) -> Made:
            self._add(made, name or made.__name__, traits)
            return made

        return add

    def _add(self, make: Callable[..., Any], name: str, traits: Mapping[str, Any]) -> None:
        parameters = [
            each for each in inspect.signature(make).parameters.values() if each.name != "self"
        ]
        settings = {each.name: each for each in parameters if each.kind is each.KEYWORD_ONLY}
        inputs = tuple(each.name for each in parameters if each.kind is not each.KEYWORD_ONLY)
        for each in settings.values():
            if each.annotation is each.empty or each.default is each.empty:
                raise ConfigError(f"{self.kind} {name}: setting {each.name} needs type and default")
        for known, what, named in (
            (self.inputs, "{!r} to take", inputs),
            (self.traits, "trait {!r}", traits),
        ):
            for given in named:
                if given not in known:
                    raise ConfigError(
                        f"{self.kind} {name}: there is no {what.format(given)}"
                        f"{did_you_mean(given, known)} (known: {', '.join(known) or 'none'})"
                    )
        here = self._plugins.get(name)
        if here is not None and _origin(here.make) != _origin(make):
            raise ConfigError(
                f"{self.kind} {name!r} of {_origin(make)} is there already, by {_origin(here.make)}"
            )
        self._plugins[name] = Plugin(self.kind, name, make, inputs, settings, dict(traits))

    def choose(self, text: str) -> Choice:
        """Return the plug-in of ``NAME`` or ``NAME(setting=value, …)``.

        Raises:
            ConfigError: there is none of that name, or a setting is wrong.
        """
        load()
        name, given = parse_call(text)
        if name not in self._plugins:
            raise ConfigError(
                f"no {self.kind} {name!r}{did_you_mean(name, self._plugins)} "
                f"(known: {', '.join(sorted(self._plugins))})"
            )
        plugin = self._plugins[name]
        return Choice(plugin, plugin.checked(given))

    def __iter__(self) -> typing.Iterator[Plugin]:
        """Yield the plug-ins by name."""
        load()
        return iter([self._plugins[name] for name in sorted(self._plugins)])


estimator = Registry(
    "estimator",
    (
        *("rewards", "scores", "lengths", "finished", "turn_rewards", "longest"),
        *("tokens", "trained", "labels", "agents", "beliefs", "log_ratios", "mean_logps"),
        "info",
    ),
    *("compares", "odd", "level", "scales", "needs"),
)
"""Registers what gives advantages; what it may take: see `credit.Groups`.

Examples:
    >>> from rlvr_envs.agents.grpo.plugins import estimator
    >>> @estimator
    ... def above_half(rewards, *, scale: float = 1.0):
    ...     return scale * (rewards - 0.5)
    >>> estimator.choose("above_half(scale=2.0)").settings
    {'scale': 2.0}
"""
loss = Registry(
    "loss",
    (
        *("logp", "old", "sampled", "reference", "mask", "advantages", "ratio", "sequence_ratio"),
        *("turns", "entropy", "scores", "demonstrated", "lag", "scales", "observed", "step"),
        "info",
    ),
    *("one_advantage", "always", "entropy_gradient"),
)
"""Registers what gives the losses of tokens; what it may take: see `objective.LossInputs`.

Examples:
    >>> from rlvr_envs.agents.grpo.plugins import loss
    >>> @loss
    ... def weighed(logp, advantages, mask):
    ...     return -(advantages * logp).where(mask, 0)
    >>> loss.choose("weighed").wants("reference")
    False
"""
aggregation = Registry(
    "aggregation", ("lengths", "groups", "advantages", "longest"), "one_advantage"
)
"""Registers what weighs episodes.

Examples:
    >>> from rlvr_envs.agents.grpo.plugins import aggregation
    >>> @aggregation
    ... def short_first(lengths):
    ...     return 1 / lengths**2
    >>> aggregation.choose("short_first").name
    'short_first'
"""
correction = Registry("correction", ("old", "sampled", "mask", "lag"))
"""Registers what corrects for the difference between the trainer and the sampler.

Examples:
    >>> from rlvr_envs.agents.grpo.plugins import correction
    >>> @correction
    ... def ratio(old, sampled):
    ...     return (old - sampled).exp()
    >>> correction.choose("ratio").plugin.inputs
    ('old', 'sampled')
"""
source = Registry("source", ("seed", "tasks", "problems"), "reads_rows")
"""Registers what says which problem is posed.

Examples:
    >>> from rlvr_envs.agents.grpo.plugins import source
    >>> source.choose("stream").plugin.inputs
    ('seed', 'problems')
"""
curriculum = Registry(
    "curriculum",
    (
        *("seed", "tasks", "arms", "weights", "shares", "low", "high", "steps", "free"),
        *("climb", "inner", "draw"),
    ),
)
"""Registers what makes a curriculum.

Examples:
    >>> from rlvr_envs.agents.grpo.plugins import curriculum
    >>> from rlvr_envs.curricula import Fixed, Proposal
    >>> @curriculum
    ... def one_level(tasks, seed, *, level: int = 0):
    ...     return Fixed([Proposal(task=task, difficulty=level) for task in tasks], seed=seed)
    >>> made = curriculum.choose("one_level(level=2)")({"tasks": ["rlvr/Gcd-v0"], "seed": 0})
    >>> made.propose().difficulty
    2
"""
sampler = Registry("sampler", ("model", "chat", "context", "dtype", "folder", "workers"), "check")
"""Registers what makes an engine that continues token sequences.

Examples:
    >>> from rlvr_envs.agents.grpo.plugins import sampler
    >>> sampler.choose("slots(slots=64)").settings
    {'slots': 64}
"""
callback = Registry("callback", (), "hints")
"""Registers what is told of groups, batches and steps.

Examples:
    >>> from rlvr_envs.agents.grpo.plugins import callback
    >>> from rlvr_envs.agents.grpo.run import Callback
    >>> @callback
    ... class Count(Callback):
    ...     def on_step(self, run, numbers):
    ...         numbers["steps"] = run.step
    >>> callback.choose("Count").name
    'Count'
"""

REGISTRIES = (estimator, loss, aggregation, correction, source, curriculum, sampler, callback)


@cache
def load() -> None:
    """Import our own plug-ins and those of installed packages, once.

    Raises:
        ConfigError: one cannot be imported.

    Examples:
        >>> from rlvr_envs.agents.grpo.plugins import load
        >>> load()
    """
    for module in CORE:
        importlib.import_module(module)
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        try:
            entry.load()
        except Exception as error:
            raise ConfigError(
                f"the plug-in {entry.name} = {entry.value} failed: {error}"
            ) from error


def load_file(path: str) -> str:
    r"""Import a plug-in file and return the digest of its text, once for each.

    Raises:
        ConfigError: there is no such file, or it fails.

    Examples:
        >>> from pathlib import Path
        >>> from rlvr_envs.agents.grpo.plugins import load_file
        >>> _ = Path("mine.py").write_text("from rlvr_envs.agents.grpo.plugins import loss\n")
        >>> digest = load_file("mine.py")
    """
    file = Path(path).resolve()
    try:
        text = file.read_bytes()
    except OSError as error:
        hint = did_you_mean_path(path)
        raise ConfigError(f"the plug-in {path} cannot be read: {error}{hint}") from error
    return _load_file(file, hashlib.sha256(text).hexdigest())


@cache
def _load_file(file: Path, digest: str) -> str:
    load()  # so that a name that is taken is taken by us
    name = f"rlvr_plugin_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ConfigError(f"the plug-in {file} is not a Python file: its name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ConfigError(f"the plug-in {file} failed: {type(error).__name__}: {error}") from error
    return digest


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and arguments of ``NAME`` or ``NAME(argument=value, …)``.

    Values are Python literals; another plug-in among them, such as ``over=linear`` or
    ``over=linear(over_steps=9)``, is kept as text.

    Raises:
        ConfigError: it is neither, or a value is no literal.

    Examples:
        >>> from rlvr_envs.agents.grpo.plugins import parse_call
        >>> parse_call("clipped(low=0.2, high=0.28)")
        ('clipped', {'low': 0.2, 'high': 0.28})
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Name):
            return tree.id, {}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.args:
            given = {word.arg: _literal(word.value) for word in tree.keywords if word.arg}
            if len(given) == len(tree.keywords):
                return tree.func.id, given
    except (SyntaxError, ValueError, AttributeError):
        pass
    raise ConfigError(f"expected NAME or NAME(argument=value, …) with plain values, got {text!r}")


def _literal(node: ast.expr) -> Any:
    """Return a constant, a number with its sign, a tuple or list of them, or a plug-in's text."""
    match node:
        case ast.Constant():
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Tuple() | ast.List():
            return tuple(_literal(part) for part in node.elts)
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {_literal(key): _literal(value) for key, value in pairs if key is not None}
        case ast.Name() | ast.Call(func=ast.Name(), args=[]):
            return ast.unparse(node)
    raise ValueError(ast.dump(node))


def _origin(make: Callable[..., Any]) -> str:
    return f"{make.__module__}.{make.__qualname__}"


def _signed(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return what has the parameters: of a class, how it is made."""
    return make.__init__ if isinstance(make, type) else make  # type: ignore[misc]


def fits(value: object, kind: Any) -> bool:
    """Whether a value is of an annotated type; a truth value is no number.

    Examples:
        >>> from typing import Literal
        >>> from rlvr_envs.agents.grpo.plugins import fits
        >>> fits(3, float), fits(True, int), fits("token", Literal["token", "sequence"])
        (True, False, True)
    """
    try:
        typeguard.check_type(value, kind)
    except typeguard.TypeCheckError:
        return False
    return not isinstance(value, bool) or kind not in (int, float)
