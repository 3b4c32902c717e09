"""nbgrader: its course folder, and its gradebook, filled from results; nothing else imports nbgrader."""
