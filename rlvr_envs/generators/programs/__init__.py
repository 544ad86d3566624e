"""Programs in a small imperative language, which exists in fourteen real ones.

Read `nodes` first, the language as data; `check` has its types and rules, and `interpret` runs it.
Programs come from `random_program` (with `random_scope` and `random_functions`) or from Python, by
`lower`. `emit` writes one in a real language: an `emit_*` module each, over `writer`, `braces` and
`blocks`. `trace` tells a run line by line, `spoken` says a program in words, `mutate` makes
mistakes in it, and `broken_programs` and `sample_runs` are what tasks ask about.
"""
