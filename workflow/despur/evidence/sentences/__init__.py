"""The numbers that a paper states in sentences, each beside a formula of measured values."""
