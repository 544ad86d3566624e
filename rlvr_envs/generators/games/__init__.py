"""Games: their rules, exact values, players, and the positions that problems start from."""
