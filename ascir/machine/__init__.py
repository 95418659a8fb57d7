"""Facts about the AI Core, without xDSL and without NumPy at import: dtypes, target, layouts, instructions."""
