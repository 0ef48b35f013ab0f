"""One page about a place: a document of what it shows, and the document as HTML."""
