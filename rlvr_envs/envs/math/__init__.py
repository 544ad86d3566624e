"""Mathematics: exact answers, every equivalent form accepted."""
