"""Read a class's submissions from a download, as the other system makes it."""
