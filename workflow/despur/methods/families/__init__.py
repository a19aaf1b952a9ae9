"""Code that methods of one family share."""
