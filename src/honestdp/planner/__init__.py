"""`honestdp plan --serve`: the planner as a page, for this machine only."""
