"""The model that is trained: loading, log-probabilities, checkpoints, several processes."""
