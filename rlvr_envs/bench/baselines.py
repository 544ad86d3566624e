"""What everything is compared with: the core algorithms, curricula, wrappers and ablations.

All but the core's presets are the agent's default with one thing changed, so that a difference is
that thing's. Windows and stages are those of a run of 20 to 40 steps.
"""

CORE = (
    "default",
    "reinforce",
    "rloo",
    "grpo",
    "dr_grpo",
    "dapo",
    "gspo",
    "cispo",
    "reinforce_plus_plus",
    "lite_ppo",
    "soft_adaptive",
)

CURRICULA = (
    "linear=default(curriculum='linear')",
    "rising_window=default(curriculum='rising_window(least_scores=32)')",
    "success_band=default(curriculum='success_band(patience=3, trend=6)')",
    "dump=default(curriculum='dump(window=64)')",
    "weakness=default(curriculum='weakness(survey_steps=5)')",
    "learning_progress=default(curriculum='learning_progress')",
    "hard_focus=default(curriculum='hard_focus(problems=64, broad_steps=8, phases=((8, 16),))')",
    "pairs=default(curriculum='pairs')",
    "adaptive_group=default(curriculum='adaptive_group')",
    "oversampled=default(curriculum='oversampled')",
    "prompt_gdro=default(curriculum='prompt_gdro')",
    "rollout_gdro=default(curriculum='rollout_gdro(mean=8, least=4)')",
)

# What a suite is to tell apart: without the group's mean, and without bounds on the ratios.
ABLATIONS = (
    "no_baseline=default(estimator='reinforce')",
    "unclipped=default(loss='clipped(low=1.0, high=1000.0)')",
)

# With `no_baseline`: the correction is a line through rewards, of which a group's mean leaves
# nothing but the slope, and the optimiser not even that.
_CORRECTED = 'NoisyVerifier(correction="backward", assumed_rho0=0.4, assumed_rho1=0.1)'
WRAPPERS = (
    "soft_overlong=default(wrappers=('SoftOverlong(limit=40, buffer=20)',))",
    "format_reward=default(wrappers=('FormatReward(share=0.2)',))",
    f"backward_correction=default(estimator='reinforce', wrappers=({_CORRECTED!r},))",
    "random_flips=default(wrappers=('RandomFlips(p=0.4)',))",
    "redundancy_penalty=default(wrappers=('RedundancyPenalty()',))",
)

BASELINES = {"core": CORE, "ablations": ABLATIONS, "curricula": CURRICULA, "wrappers": WRAPPERS}
