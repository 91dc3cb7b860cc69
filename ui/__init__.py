"""The app behind pages/, in rooms; docs/architecture.md says who may import whom."""
