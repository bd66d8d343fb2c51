"""What comparisons with other simulators share: measures with bounds, the verdict on a difference, the table, the command."""
