"""Files of other programs: read as results (`imports.py`), and written of results (`export.py`)."""
