"""The meta semantic regularizer (Qiang et al. 2022)."""
