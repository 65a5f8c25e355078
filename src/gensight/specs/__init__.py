"""Specs: a typed, strict model of every YAML of the project, and checks of the names they use."""
