"""From models to lines: pure functions that know no widget."""
