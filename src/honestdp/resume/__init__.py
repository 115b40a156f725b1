"""What a run keeps inside the trust boundary, so that it can go on after an interruption."""
