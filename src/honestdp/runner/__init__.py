"""Carrying out a plan: `run` is the whole story, `Session` what it asks of the outside."""
