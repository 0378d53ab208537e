"""What `colonizer doctor` looks at."""
