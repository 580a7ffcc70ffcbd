"""Who says what: keys, signed envelopes, provenance and the list of what is in a bundle."""
