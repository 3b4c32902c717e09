"""`grader desk`: a class in the browser, on this computer alone."""
