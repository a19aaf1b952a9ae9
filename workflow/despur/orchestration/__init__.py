"""What the rules ask for: configurations, experiments, resources, locks, GPU slots."""
