"""The ``calibrant`` command, which reads files and writes tables, JSON, files and pages."""
