"""The figures of A's simulation study, a module each: `show` reads its data, draws it and gives its numbers."""
