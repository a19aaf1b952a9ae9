"""What the rules use: configurations, experiments, resources, locks, GPU slots."""
