"""Render a report for people and programs. Nothing here changes a report."""
