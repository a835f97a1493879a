"""Two sides of a study beside each other: what differs, and how much of it each change explains."""
