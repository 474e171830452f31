"""forward_mode, rules that recognize mistakes by what the student's code does, asked again."""
