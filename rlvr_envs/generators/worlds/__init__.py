"""Fictional worlds: entities and facts, the articles that tell them, and questions about them.

Read `world` first (with `schema` and `facts`), then `writing` and `sentences`, which tell it in
plain prose, `prose` (with `genres`, `predicates` and `voice`), which varies it, and `site`, which
is searched. A question is a `plan` over `paths`. It is drawn by `questions` and the `kind_*`
modules, put into words by `english`, and used if it passes the `gates`.
"""
