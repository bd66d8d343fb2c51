"""Claims: the sentences of a study as checks over its tables, in a closed language.

>>> from fairlane.claims import Check, Tables
>>> tables = Tables({"delay": [{"queue": "codel", "value": "12"}, {"queue": "droptail", "value": "80"}]})
>>> Check("v('delay', queue='codel') < v('delay', queue='droptail')").outcome(tables)
'holds'
"""

from __future__ import annotations

from .check import BadCheck, Check, Comparison, Outcome
from .tables import Factors, NoData, Row, Tables, as_number, factors_key, resampled, row_of, same, tables_of
from .vocabulary import VOCABULARY

__all__ = [
    "VOCABULARY",
    "BadCheck",
    "Check",
    "Comparison",
    "Factors",
    "NoData",
    "Outcome",
    "Row",
    "Tables",
    "as_number",
    "factors_key",
    "resampled",
    "row_of",
    "same",
    "tables_of",
]
