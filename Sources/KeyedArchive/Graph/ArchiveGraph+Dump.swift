import PropertyList

extension ArchiveGraph {
    /// The graph as it would be archived now, drawn by `TreeDrawing`.
    ///
    /// - Parameter leafText: the format of leaves.
    /// - Returns: terminated lines; the last one has the error when the graph cannot be archived.
    package func dump(_ leafText: LeafText = LeafText()) -> String {
        var text = ""
        do throws(ArchiveError) {
            let bytes = try encoded(as: .binary)
            let reader = try lifted { () throws(PropertyListError) in try BinaryPropertyListReader(bytes) }
            var drawing = TreeDrawing(ArchiveTree(reader), leafText: leafText) { "at \($0)" }
            drawing.draw { line in
                for piece in line { text += piece.text }
                text += "\n"
            }
        } catch {
            text += "the graph cannot be archived as it is: \(error)\n"
        }
        return text
    }
}
