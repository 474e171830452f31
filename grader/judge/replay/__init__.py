"""Write a check as a script that runs without the grader."""
