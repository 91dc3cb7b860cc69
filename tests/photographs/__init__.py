"""Photographs of digits that the tests take themselves, and things that are no digits."""
