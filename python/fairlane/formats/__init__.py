"""Files of other programs: read as results (`bring.py`), and written of results (`export.py`)."""
