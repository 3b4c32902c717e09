def normalize_scores(scores):
    scores /= scores.sum()
    return scores
