"""What runs on a device: the machine, processes, tasks, randomness."""
