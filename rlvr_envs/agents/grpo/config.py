"""What a training run is told: one field each, from which the command line is made."""

from dataclasses import dataclass
from typing import Literal

Estimator = Literal[
    "reinforce",
    "dr_grpo",
    "grpo",
    "rloo",
    "lite_ppo",
    "reinforce_plus_plus",
    "bnpo",
    "ngrpo",
    "mc_grpo",
    "psr",
    "nsr",
    "weighted_reinforce",
    "asym_re",
    "pacs",
    "drpo",
    "dr_mas_experimental",
    "tempo_experimental",
    "trloo",
]


@dataclass(frozen=True, kw_only=True)
class Config:
    """How to train a model on environments.

    The defaults are DAPO's clipping and aggregation with Dr. GRPO's advantages: no division by a
    standard deviation, no KL penalty, no reference model.
    """

    # What is trained, and on what
    tasks: tuple[str, ...] = ()
    """Ids of tasks, such as Gcd-v0; more than one are mixed."""
    difficulty: str = "0"
    """A rung of the ladder, or a range such as 0-5, from which each group draws one."""
    knobs: tuple[str, ...] = ()
    """Settings of the tasks, as NAME=VALUE."""
    wrappers: tuple[str, ...] = ()
    """Wrappers around the environments, from the inside out: NAME or NAME(argument=value, …)."""
    curriculum: str = "fixed"
    """How tasks and difficulties follow each other: a curriculum's NAME or NAME(argument=value)."""
    model: str = "tiny"
    """A folder, a hub's name, a GGUF file, smollm2, or tiny: a small one made for the tasks."""
    out: str = "runs/grpo"
    """The folder of the run."""
    seed: int = 0
    """Of everything that is drawn."""

    # Sampling
    steps: int = 200
    """Training steps, each of which samples new episodes."""
    groups: int = 16
    """Problems in a step."""
    group_size: int = 8
    """Episodes of each problem."""
    max_tokens: int = 256
    """The most tokens of an action."""
    context: int = 2048
    """The most tokens of an episode, prompt and observations included."""
    temperature: float = 1.0
    """Of sampling."""
    system_prompt: str = ""
    """Said before the problem, if the model's chat has such a place."""
    engine: Literal["auto", "slots", "generate", "server"] = "auto"
    """What samples: our own engine, transformers' plain generate, or an HTTP server."""
    server: str = ""
    """The base URL of an OpenAI-compatible server that returns token ids, for engine server."""
    server_model: str = ""
    """The name under which it serves the model."""
    server_update: str = ""
    """The URL to post to after each step, which makes it take the new weights."""
    server_tempered: bool = False
    """Whether its log-probabilities are those at the temperature."""
    slots: int = 256
    """Episodes that our engine continues at a time."""
    dynamic_sampling: bool = False
    """Draw groups until enough of them have rewards that differ (DAPO)."""
    max_rounds: int = 8
    """Rounds of drawing in a step, at most, with dynamic sampling."""

    # Objective
    advantage: Estimator = "dr_grpo"
    """What an episode's reward is worth beside the others' (`advantage`)."""
    length_temperature: float = 0.1
    """For advantage=drpo: the lower, the more of its weight goes to the shortest right answers."""
    ace_experimental: float = 0.0
    """How much harder to push away wrong answers that training has made likelier (ACE's alpha)."""
    objective: Literal[
        "clipped",
        "reinforce",
        "cispo",
        "topr",
        "soft_adaptive",
        "one_side",
        "dispo_experimental",
        "dhpo_experimental",
        "opmd_experimental",
    ] = "clipped"
    """The loss of a token (`loss`)."""
    ratio: Literal["token", "sequence", "prefix"] = "token"
    """The importance ratio: of the token, of the sequence (GSPO), or times the least before it."""
    clip_low: float = 0.2
    """How far below 1 the ratio counts."""
    clip_high: float = 0.28
    """How far above 1 the ratio counts; for CISPO the largest ratio itself."""
    clip_dual: float | None = None
    """For negative advantages, the largest ratio that counts (dual clip)."""
    aggregation: Literal[
        "token_mean", "sequence_mean", "sequence_sum", "constant_length", "balanced"
    ] = "token_mean"
    """How tokens are averaged."""
    kl: Literal["none", "k1", "k2", "k3", "forward_kl", "jensen_shannon"] = "none"
    """The penalty on the distance from the reference model; all but k2 and k3 times the ratio."""
    kl_coef: float = 0.001
    """Its weight."""
    reference_every: int | None = None
    """Steps after which the reference model becomes the trained one (ProRL); None for never."""
    entropy_coef: float = 0.0
    """The weight of a bonus on the entropy of the tokens' distributions."""
    overlong: Literal["count", "mask", "penalty"] = "count"
    """Answers cut off at the limit: counted as they are, left out, or their length penalised."""
    leave_out: tuple[Literal["over_turn_experimental", "void_turn_experimental"], ...] = ()
    """Episodes not to train on: those that ran out of turns, or had a turn without a call."""
    overlong_buffer: int = 64
    """Tokens over which that penalty grows."""
    mismatch: Literal["none", "truncate", "mask"] = "truncate"
    """How the difference between sampler and trainer is corrected."""
    mismatch_limit: float = 2.0
    """The largest weight of that correction."""

    # Optimisation
    learning_rate: float = 1e-6
    """AdamW's, after the warm-up."""
    warmup: int = 10
    """Steps over which the learning rate rises to that; Adam's first steps are long."""
    betas: tuple[float, float] = (0.9, 0.95)
    """AdamW's."""
    weight_decay: float = 0.0
    """AdamW's."""
    max_grad_norm: float = 1.0
    """Gradients longer than that are shortened to it."""
    epochs: int = 1
    """Passes over a step's episodes."""
    minibatches: int = 1
    """Optimiser steps in a pass."""
    micro_tokens: int = 16_384
    """Tokens, padding included, that go through the model at a time while training."""
    warm_start: int = 0
    """Supervised steps on the tasks' own solutions before anything else."""
    warm_start_batch: int = 64
    """Demonstrations in such a step."""
    warm_start_noise: float = 0.0
    """The share of their demonstrations that give another problem's solution."""
    warm_start_learning_rate: float = 3e-3
    """Their learning rate."""
    lora_rank: int = 0
    """Train low-rank adapters of this rank (peft) instead of all weights; 0 for all weights."""
    gradient_checkpointing: bool = False
    """Compute activations twice to save memory."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where the model lives; auto takes a GPU if there is one."""
    bf16: bool | None = None
    """Compute in bfloat16 with float32 weights; None for wherever there is a GPU."""
    threads: int | None = None
    """CPU threads of torch; None: one under 20 million weights, else one for each core."""

    # What is kept
    evaluate_every: int = 0
    """Steps between held-out evaluations; 0 for none. One comes at the start and at the end too."""
    evaluate_problems: int = 64
    """Held-out problems of each task and difficulty."""
    save_every: int = 50
    """Steps between checkpoints."""
    keep: int = 2
    """Checkpoints to keep."""
    resume: bool = False
    """Go on from the newest checkpoint in the folder."""
    stop_after: int | None = None
    """Stop after that many steps of this process, with a checkpoint; where time is limited."""
    samples: int = 2
    """Episodes of each step to write out in full."""
    report: tuple[Literal["tensorboard", "wandb", "trackio"], ...] = ()
    """Where metrics go besides metrics.jsonl."""
