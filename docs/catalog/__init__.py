"""The pages of the documentation site: those of docs/, and those that are made from the code and its data."""
