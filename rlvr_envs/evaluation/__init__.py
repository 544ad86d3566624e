"""Evaluation: policies play episodes, metrics summarise them, a report shows them."""
