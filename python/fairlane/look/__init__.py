"""What all pages and pictures share: colours, charts, templates."""
