def dot_product(a, b):
    return sum(x * y for x, y in zip(a, b))

def normalize_scores(scores):
    return scores / scores.max()
