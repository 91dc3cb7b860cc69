"""Hostile input, faults and load, by the thousand: python -m tests.stress

Every part is bounded in time and count and speaks to this machine only. Small samples of each run
with the ordinary tests (tests/test_stress.py); the table of a whole run is in docs/stress.md.
"""
