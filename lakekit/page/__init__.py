"""One page about a place: what it shows as a document, and the document as HTML without a network."""
