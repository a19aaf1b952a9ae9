"""A paper's claims as data, the measurements behind them, and what these decide."""
