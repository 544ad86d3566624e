"""Group-relative policy optimisation of language models on registered environments.

`train.train` is the loop, to be read from top to bottom; `config.Config` says what it can be told.
All of it needs torch and transformers (the extra ``train``) and is imported by name,
so that this package stays light. Besides the loop there are rooms for what it is made of:

- `plugins`: registries of what a run is put together from; `zoo`: algorithms beyond the core;
- `sampling`: what continues token sequences;
- `model`: loading, log-probabilities, checkpoints, several processes;
- `tracking`: numbers, samples and curves.
"""
