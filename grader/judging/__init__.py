"""From one student's work to its outcomes: checks are collected and run, mistakes named, points added."""
