"""From metrics to tables, figures, claims and the scorecard."""
