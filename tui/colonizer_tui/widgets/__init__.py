"""Parts that know nothing of colonies."""
