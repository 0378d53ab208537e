"""Settings, endpoints, secrets and where files live."""
