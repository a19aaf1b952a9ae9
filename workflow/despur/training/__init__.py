"""How a run is trained, evaluated on validation data and kept."""
