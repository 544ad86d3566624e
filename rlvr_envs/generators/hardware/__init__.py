"""Hardware designs as data, in words and in Verilog, and changes of a source.

Read `design` first, then `wording`, which makes the prompt, and `task`, the base of the tasks that
ask for a design. `syntax` takes a source apart for `mutations`, `faults` and `styles`.
"""
