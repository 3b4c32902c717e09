"""A class: everything handed in, the outcomes of it in one store, and scores made of these."""
