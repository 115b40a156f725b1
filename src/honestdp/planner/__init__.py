"""`honestdp plan --serve`: the planner as a web page, served to this machine only."""
