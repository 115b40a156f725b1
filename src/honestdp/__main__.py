"""`python -m honestdp`: the command line, where no script of its name is on the path."""

from honestdp.cli import main

main()
