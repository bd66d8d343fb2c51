"""Readers of logs, one file each; `fairlane.formats.readers` lists them."""
