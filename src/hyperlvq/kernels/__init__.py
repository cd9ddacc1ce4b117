"""Arrays in, arrays out: the arithmetic of every model, without validation or state."""
