r"""Reading and comparing mathematical answers, in stages; `rlvr_envs.verifiers.symbolic` runs them.

Text to value:

1. `normalise`: LaTeX and plain typing in one spelling.
2. `lexer`: the spelling cut into tokens.
3. `parser` (with `cursor` and `atoms`): the tokens as a typed value (`values`), whose expressions
   are trees (`nodes`); literals and known functions are folded by `functions`, words after a number
   are read by `units`.
4. `reader`: the first three in one call, and the readings that need no grammar: choices, words,
   digits in a base, labels. `congruences` and `vectors` read residues and components.
5. `forms`: a value settled: chains of equalities, plus-minus signs, records of assignments.
6. `gold`: a right answer, read once, with its type.

Value to decision:

7. `compare`: two settled values by type; `regions` for sets of numbers, `relations` for equations
   and inequalities, `families` for functions with arbitrary constants.
8. `tolerance`: when two numbers or expressions count as equal; `identity` decides it at points that
   `numeric` computes, `calculus` differentiates.
9. `alternatives`: other spellings of an answer that has not met the gold, each judged from stage 1.
10. `fallback`: a second reader in an isolated process, for what none of this reads.
"""
