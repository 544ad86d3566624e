"""English words, and names of people and of invented things."""
