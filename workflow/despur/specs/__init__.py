"""What a name means: settings, declarations, specifications, result paths."""
