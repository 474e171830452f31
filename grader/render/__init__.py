"""Renderers: from a report to what people and programs read.

``values`` (numbers as text), ``terminal``, ``html``, ``json``. Each takes a ``model.Report`` and
changes nothing.
"""
