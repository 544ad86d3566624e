"""Reference agents: trainers short enough to read, for every environment of the suite."""
