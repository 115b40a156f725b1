"""What people look at: pictures now, the report of a run later."""
