"""Import (`imports.py`) and export (`export.py`) of files of other programs."""
