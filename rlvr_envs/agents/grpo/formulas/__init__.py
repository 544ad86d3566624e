"""Advantages, losses and selections of the group-relative family, as pure functions of tensors."""
