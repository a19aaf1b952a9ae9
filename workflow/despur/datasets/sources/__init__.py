"""What data sets share: raw files, scenes, colors, prompts, hierarchies."""
