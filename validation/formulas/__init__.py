"""TCP's throughput compared with theoretical formulas.

Run with `python -m validation.formulas`.
"""
