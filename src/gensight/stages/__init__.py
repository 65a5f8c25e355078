"""The steps of the road, one function per rule; each reads files, and writes one atomically."""
