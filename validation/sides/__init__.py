"""Common parts of the comparisons with other simulators: measures with bounds, the verdict on a difference, the table, the command."""
