error("while loading")
