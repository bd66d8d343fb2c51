"""Pages and pictures: everything a reader of results sees."""
