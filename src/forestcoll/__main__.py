"""`python -m forestcoll` is `forestcoll`."""

from forestcoll.cli import main

main()
