"""Programs and tunings."""
