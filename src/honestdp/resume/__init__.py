"""The state of a run that is kept inside the trust boundary, so that it can be resumed."""
