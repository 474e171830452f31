"""From a report to what people and programs read. Nothing here changes a report."""
