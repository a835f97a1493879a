def normalised(*a): raise ValueError
