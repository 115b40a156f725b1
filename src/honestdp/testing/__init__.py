"""Contract suites: check a kind of your own by one call."""
