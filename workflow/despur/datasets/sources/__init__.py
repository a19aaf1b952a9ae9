"""What data sets share: raw files, scenes, colours, prompts, hierarchies."""
