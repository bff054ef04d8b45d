"""What a run found, measured against labels."""
