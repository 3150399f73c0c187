import PropertyList

extension ArchiveGraph {
    /// The graph as `TreeDrawing` draws it: as it would be archived now.
    ///
    /// - Parameter leafText: how leaves are shown.
    /// - Returns: lines, each ended; the last says why when the graph can't be archived as it is.
    package func dump(_ leafText: LeafText = LeafText()) -> String {
        var text = ""
        do throws(ArchiveError) {
            let bytes = try encoded(as: .binary)
            let reader = try lifted { () throws(PropertyListError) in try BinaryPropertyListReader(bytes) }
            var drawing = TreeDrawing(ArchiveTree(reader), leafText: leafText)
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
