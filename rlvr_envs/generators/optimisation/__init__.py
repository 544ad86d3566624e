"""What optimisation tasks share: the base class, readers of answers, linear programs."""
