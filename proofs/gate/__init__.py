"""All that a verdict rests on."""
