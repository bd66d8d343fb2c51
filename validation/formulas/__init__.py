"""TCP's throughput beside the formulas that theory gives for it.

Run with `python -m validation.formulas`.
"""
