"""NewPaper (authors and year)."""
