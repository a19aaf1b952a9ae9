"""The published configuration in miniature, from raw files to tables, figures, scorecard and report."""
