"""Predictions of a model for a subject, in a form for the browser or a file."""
