def score_corpus(): pass
