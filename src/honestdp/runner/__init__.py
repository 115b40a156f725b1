"""Carrying out a plan: `run` has the steps, `Session` handles charge, folder, errors, release."""
