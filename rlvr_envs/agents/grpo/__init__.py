"""Group-relative policy optimisation: the pure functions that a training loop is made of.

`advantage` turns rewards into advantages, and `loss` turns log-probabilities and advantages into a
loss. Both need torch (``pip install "rlvr-envs[train]"``) and are imported by name, so that this
package stays light. There is no trainer here.
"""
