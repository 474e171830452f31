"""What a class handed in: from a download, as it comes, to submissions with names."""
