"""The pages and tables about all papers: scorecard, summary, matrix of methods, settings, cost."""
