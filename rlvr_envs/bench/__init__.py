"""The benchmark of RL algorithms: frozen suites, runs within a budget, and their comparison."""
