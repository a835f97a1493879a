"""What a run changes on its host, and how all of it is put back, however the run ends."""
