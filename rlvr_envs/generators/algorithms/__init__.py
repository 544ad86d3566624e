"""Questions with a fast and a slow solution that every language can have.

A `family` is a question such as the longest increasing subsequence. `lists` and `others` answer
questions fast, `slow_lists` and `slow_others` by brute force, `list_families` and `other_families`
put both together with `inputs`. A `plan` joins a family to `stages` that change a list before.
"""
