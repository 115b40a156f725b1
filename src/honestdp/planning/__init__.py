"""What will be done, decided from public inputs alone: no signature here takes data."""
