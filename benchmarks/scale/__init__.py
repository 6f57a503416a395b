"""Costs of tables of any size, beside pandas and scikit-learn, DuckDB and Polars."""
